/// Whether the closure of a declared version runs.
///
/// ``Declarations/decide(_:in:after:hasRun:attemptLimit:)`` makes the decision.
///
/// A declaration decides twice: first from the state that the manager has in memory, and then, if the closure
/// may have to run, from the state that ``Runner`` reads while it holds the lock.
package enum Decision {
    /// The closure runs.
    ///
    /// The value contains the number of attempts, including this one, and how many processes of this app
    /// version crashed while they ran the migration.
    case run(AttemptedMigration)

    /// The closure doesn't run: the version isn't above the last-run version.
    case alreadyRun

    /// The version is added to the baseline of a fresh install, and its closure doesn't run.
    ///
    /// This is the decision in every process of the app version that created the state, as long as the state
    /// says so (``StateVersions/freshInstall``).
    case joinsBaseline

    /// What to say if the closure doesn't run, and the change of the state that the declaration makes instead
    /// couldn't be saved.
    package func outcomeOfNotSaving(_ version: AppVersion) -> Message {
        if case .joinsBaseline = self {
            return
                "Migration \(version) was not run, and was not added to the baseline. The next start adds it."
        }
        return "The minimumAppVersion: of migration \(version) was not saved. The next start saves it."
    }
}

extension Declarations {
    /// Decides whether the closure of a declaration runs.
    ///
    /// This function uses no clock, disk or lock.
    ///
    /// ``Declarations/versions`` were read before this declaration. The parameter `versions` may have been
    /// read later. If they differ, another process has changed the state since then: it may have run
    /// migrations, or the state may have been reset.
    ///
    /// - Parameters:
    ///   - declared: The declaration.
    ///   - versions: The versions of the state from which to decide.
    ///   - previous: The version that was declared before; zero if the order has already been checked.
    ///   - hasRun: If the version isn't above the last-run version: whether its migration has run. It is
    ///     false only for a version that is declared with `addedIn:`.
    ///   - attemptLimit: How many processes may crash in this migration before it is refused; `nil` if that
    ///     isn't checked.
    /// - Returns: The decision.
    /// - Throws: ``MigrationError`` with the code `declaredOutOfOrder`, `newerThanCurrentVersion`, `tooOld`,
    ///   `usedByNewerApp`, `managerClosed` or `attemptLimitReached`.
    package func decide(
        _ declared: DeclaredMigration,
        in versions: StateVersions,
        after previous: AppVersion = .zero,
        hasRun: Bool = true,
        attemptLimit: Int?
    ) throws(MigrationError) -> Decision {
        let version = declared.version
        let current = rules.appVersion
        let ownVersions = self.versions
        // This was checked when the manager was created. Check again, because since then an older app may
        // have begun a migration that this app doesn't declare any more.
        try rules.requireUpgradable(versions)
        try requireOrder(of: declared, after: previous)
        if version.exceeds(current) { throw rules.newerThanAppError(version) }
        if let addedIn = declared.addedIn, addedIn.exceeds(current) {
            throw rules.newerThanAppError(version, addedIn: addedIn)
        }
        let wasMissed = version <= versions.lastRun && !hasRun
        if version <= ownVersions.lastRun, hasRun { return .alreadyRun }
        // The version is pending, or it was pending when the manager read its versions and has been recorded
        // since. In both cases, this app must stop if a newer app has begun to change the data.
        if let newer = newerApp(than: current, at: version, in: versions, wasMissed: wasMissed) {
            throw rules.usedByNewerAppError(declared, begun: newer, in: versions)
        }
        if versions.lastRun < ownVersions.lastRun { throw resetError(version) }
        if version <= versions.lastRun, !wasMissed { return .alreadyRun }
        guard let next = versions.attempts(at: version)?.nextAttempt(by: current) else {
            return versions.isFreshInstall(of: current) && !wasMissed
                ? .joinsBaseline : .run(AttemptedMigration(version, by: current))
        }
        if let attemptLimit, next.crashCount >= max(1, attemptLimit) { throw attemptLimitError(next) }
        return .run(next)
    }

    private func requireOrder(
        of declared: DeclaredMigration,
        after previous: AppVersion
    ) throws(MigrationError) {
        let version = declared.version
        let minimum = declared.minimumAppVersion
        let location = rules.location
        if let addedIn = declared.addedIn, addedIn <= version {
            throw location.error(
                .declaredOutOfOrder,
                version: version,
                "The addedIn: \(addedIn) of migration \(version) in \(location) is not above the migration's own version.",
                advice: "Pass the first release above \(version) of the main line that has this migration."
            )
        }
        let newest = max(version, declared.addedIn ?? version)
        if minimum > newest {
            throw location.error(
                .declaredOutOfOrder,
                version: version,
                """
                The minimumAppVersion: \(minimum) of migration \(version) in \(location) is above the migration's own version: the \
                app that runs the migration could not use the data.
                """,
                advice: "Pass at most \(newest) as minimumAppVersion:."
            )
        }
        if version > previous { return }
        let text: Message =
            if previous == .zero {
                "Migration 0 is declared in \(location). Version 0 can't be declared: it means that nothing has run."
            } else if version == previous {
                "Migration \(version) is declared after migration \(previous) in \(location). Both are the same version."
            } else {
                "Migration \(version) is declared after migration \(previous) in \(location), and is not above it."
            }
        throw location.error(
            .declaredOutOfOrder,
            version: version,
            text,
            advice: "Declare each version once, in rising order, and all above 0."
        )
    }

    /// Makes the error for a declaration after another manager or process has reset the state.
    ///
    /// Versions that this manager declared before may be pending again. If this version ran now, they would
    /// be skipped.
    private func resetError(_ version: AppVersion) -> MigrationError {
        let text: Message = """
            Migration \(version) was not run: the state of \(rules.location) was reset after this manager was created, so \
            versions that it declared before may be pending again. Create a new manager and declare every migration again.
            """
        return rules.location.error(.managerClosed, version: version, text)
    }

    private func attemptLimitError(_ next: AttemptedMigration) -> MigrationError {
        let isFile = rules.location.path != nil
        let fleetAdvice: Message = " The page of FleetMigrationManager has the SQL of resetAttempts()."
        let text: Message = """
            Migration \(next.version) of \(rules.location) was not run: \(next.crashCount) \
            \(next.crashCount == 1 ? "process" : "processes") of this app version crashed in it, as many as attemptLimit allows. \
            Offer a way to recover: resetAttempts() lets the next manager try again, and so does a new app version, reset(to:) or a \
            higher limit.\(isFile ? "" : fleetAdvice)
            """
        return rules.location.error(.attemptLimitReached, version: next.version, text)
    }

    /// The newer app version that has begun to change the data, so that this app must not run `version`;
    /// `nil` if there is none.
    ///
    /// For a version above the last-run version, this is the version of a migration that a newer app has
    /// begun.
    ///
    /// If `wasMissed` is true, a higher version has already run. The number of `version` then doesn't show
    /// whether a newer app has begun it, but the app version of its last attempt does. `version` is also
    /// refused if a newer app has recorded any version, because its closure expects older data.
    private func newerApp(
        than current: AppVersion,
        at version: AppVersion,
        in versions: StateVersions,
        wasMissed: Bool
    ) -> AppVersion? {
        if version > versions.lastRun { return versions.begun(above: current) }
        let recorded = versions.recorded(above: current)
        guard wasMissed, recorded == nil else { return recorded }
        // An attempt that replaces a file or a folder has changed nothing before it is recorded.
        if let attempt = versions.attempts(at: version), attempt.replacing == nil,
            attempt.appVersion.exceeds(current)
        {
            return attempt.appVersion
        }
        return versions.begun(above: current)
    }

    /// The state to save for a declaration whose closure doesn't run; `nil` if nothing has to be saved.
    package func stateToSaveIfNotRun(
        _ declared: DeclaredMigration,
        by decision: Decision,
        from state: MigrationState
    ) -> MigrationState? {
        let minimum = declared.minimumAppVersion
        switch decision {
        case .joinsBaseline:
            return state.changed { $0.raiseBaseline(to: declared.version, minimumAppVersion: minimum) }
        case .alreadyRun where raisesMinimumAppVersion(declared, in: state.versions):
            return state.changed { $0.versions.raiseMinimumAppVersion(to: minimum) }
        default: return nil
        }
    }

    /// True if the declaration raises the minimum app version of the state although its closure doesn't run.
    ///
    /// It is false if a newer release has begun or recorded a migration: the minimum app version then stays
    /// as that release set it.
    func raisesMinimumAppVersion(_ declared: DeclaredMigration, in versions: StateVersions) -> Bool {
        versions.minimumAppVersion < declared.minimumAppVersion
            && versions.begun(above: rules.appVersion) == nil
            && versions.recorded(above: rules.appVersion) == nil
    }
}

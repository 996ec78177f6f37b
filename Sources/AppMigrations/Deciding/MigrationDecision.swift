/// A decision about a declared version.
///
/// ``Declarations`` first decides from the state in memory. ``MigrationRun`` then takes the lock, reads the
/// state, and lets it decide again.
package enum MigrationDecision {
    /// The closure runs now. The value contains the number of attempts, including this one, and how often a
    /// process of this app version died in the migration.
    case run(AttemptedMigration)

    case alreadyRun

    /// The version becomes part of a fresh install's baseline, and its closure doesn't run.
    ///
    /// Every process of the release that created the state decides so.
    case joinsBaseline

    /// The sentence to add to an error if this decision changes the state without a run, and the change
    /// couldn't be saved.
    package func consequenceOfNotSaving(_ version: AppVersion) -> Message {
        if case .joinsBaseline = self {
            return
                "Migration \(version) was not run, and was not added to the baseline. The next start adds it."
        }
        return "The minimumAppVersion: of migration \(version) was not saved. The next start saves it."
    }
}

extension Declarations {
    /// Decides about a declaration by the versions of the state.
    ///
    /// It uses no clock, disk or lock.
    ///
    /// ``Declarations/versions`` were read before this declaration. The parameter `versions` may have been read
    /// later.
    ///
    /// - Parameters:
    ///   - declaration: The declaration.
    ///   - versions: The versions to decide by.
    ///   - previous: The version that was declared before; zero if the order was checked already.
    ///   - hasRun: For a version that is not above the last-run version: whether it has run. It is false only
    ///     for a version declared out of order.
    ///   - attemptLimit: How many times the process may die in this migration before it is refused; `nil` for
    ///     no check.
    /// - Returns: The decision.
    /// - Throws: ``MigrationError`` with the code `declaredOutOfOrder`, `newerThanCurrentVersion`, `tooOld`,
    ///   `usedByNewerApp`, `managerClosed` or `attemptLimitReached`.
    package func decide(
        _ declaration: Declaration,
        in versions: StateVersions,
        after previous: AppVersion = .zero,
        hasRun: Bool = true,
        attemptLimit: Int?
    ) throws(MigrationError) -> MigrationDecision {
        let version = declaration.version
        let current = rules.appVersion
        let ownVersions = self.versions
        // Since this manager was made, an older app may have begun a migration that this app doesn't declare
        // any more.
        try rules.requireUpgradable(versions)
        try requireOrder(of: declaration, after: previous)
        if version.exceeds(current) { throw rules.newerThanAppError(version) }
        let runsOutOfOrder = version <= versions.lastRun && !hasRun
        if version <= ownVersions.lastRun, hasRun { return .alreadyRun }
        // The version is pending, or was pending when this manager was made. If it was recorded in the
        // meantime, it has run. But if a newer app has recorded a higher version, this app must stop.
        if let newer = newerApp(than: current, at: version, in: versions, runsOutOfOrder: runsOutOfOrder) {
            throw rules.usedByNewerAppError(version, begun: newer, in: versions)
        }
        if versions.lastRun < ownVersions.lastRun { throw resetError(version) }
        if version <= versions.lastRun, !runsOutOfOrder { return .alreadyRun }
        guard let next = versions.attempts(at: version)?.nextAttempt(by: current) else {
            return versions.isFreshInstall(of: current) && !runsOutOfOrder
                ? .joinsBaseline : .run(AttemptedMigration(version, by: current))
        }
        if let attemptLimit, next.deaths >= max(1, attemptLimit) { throw attemptLimitError(next) }
        return .run(next)
    }

    private func requireOrder(
        of declaration: Declaration,
        after previous: AppVersion
    ) throws(MigrationError) {
        let version = declaration.version
        let minimum = declaration.minimumAppVersion
        let location = rules.location
        if minimum > version {
            throw location.error(
                .declaredOutOfOrder,
                version: version,
                """
                The minimumAppVersion: \(minimum) of migration \(version) in \(location) is above the migration's own version: the \
                app that runs the migration could not use the data.
                """,
                advice: "Pass at most \(version)."
            )
        }
        if version > previous { return }
        let text: Message =
            previous == .zero
            ? "Migration 0 is declared in \(location), and 0 is the version of a state in which nothing ran."
            : "Migration \(version) is declared after migration \(previous) in \(location), and is not above it."
        throw location.error(
            .declaredOutOfOrder,
            version: version,
            text,
            advice: "Declare each version once, in rising order, and all above 0."
        )
    }

    /// The error if the state was reset since this manager was made.
    ///
    /// Versions that were declared before may be pending again. To run this version now would skip them.
    private func resetError(_ version: AppVersion) -> MigrationError {
        let text: Message = """
            Migration \(version) was not run: the state of \(rules.location) was reset after this manager was made, so versions \
            that were declared before may be pending again. Create a new manager and declare every migration again.
            """
        return rules.location.error(.managerClosed, version: version, text)
    }

    private func attemptLimitError(_ next: AttemptedMigration) -> MigrationError {
        let text: Message = """
            Migration \(next.version) of \(rules.location) was not run: \(next.deaths) \(next.deaths == 1 ? "process" : "processes") \
            of this app version died in it, as many as attemptLimit allows. Offer a way to recover: resetAttempts() lets the next \
            manager try again, and so does a new app version, reset(to:) or a higher limit.
            """
        return rules.location.error(.attemptLimitReached, version: next.version, text)
    }

    /// The newer app version that has already changed the data, so that this app can't go on; `nil` if there
    /// is none.
    ///
    /// A version is late if it is declared out of order and a higher version has already run. Its number
    /// doesn't show whether a newer app has begun it; the app version of its last attempt does. A late
    /// version is also refused if a newer app has recorded any version, because the late closure expects
    /// older data.
    private func newerApp(
        than current: AppVersion,
        at version: AppVersion,
        in versions: StateVersions,
        runsOutOfOrder: Bool
    ) -> AppVersion? {
        if version > versions.lastRun { return versions.begun(above: current) }
        let recorded = versions.recorded(above: current)
        guard runsOutOfOrder, recorded == nil else { return recorded }
        let attempt = versions.attempts(at: version)
        if let attempt, attempt.hasBegun, attempt.appVersion.exceeds(current) {
            return attempt.appVersion
        }
        return versions.begun(above: current)
    }

    /// The state to save for a declaration that doesn't run; `nil` if nothing has to be saved.
    package func stateWithoutRun(
        of declaration: Declaration,
        by decision: MigrationDecision,
        from state: MigrationState
    ) -> MigrationState? {
        let minimum = declaration.minimumAppVersion
        switch decision {
        case .joinsBaseline:
            return state.raisingBaseline(to: declaration.version, minimumAppVersion: minimum)
        case .alreadyRun where raisesMinimumAppVersion(declaration, in: state.versions):
            return state.raisingMinimumAppVersion(to: minimum)
        default: return nil
        }
    }

    /// True if the declaration raises the minimum app version without a run.
    ///
    /// If a newer release has begun or recorded a migration, the minimum app version stays as that release
    /// set it.
    func raisesMinimumAppVersion(_ declaration: Declaration, in versions: StateVersions) -> Bool {
        versions.minimumAppVersion < declaration.minimumAppVersion
            && versions.begun(above: rules.appVersion) == nil
            && versions.recorded(above: rules.appVersion) == nil
    }
}

extension MigrationState {
    /// For a version that is not above the last-run version: true if it has run.
    ///
    /// It is always true unless the version is declared out of order.
    package func hasRun(_ declaration: Declarations.Declaration) -> Bool {
        !declaration.isOutOfOrder || hasRun(declaration.version)
    }
}

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
    /// Decides about a declaration by the marks of the state.
    ///
    /// It uses no clock, disk or lock.
    ///
    /// ``Declarations/marks`` were read before this declaration. The parameter `marks` may have been read
    /// later.
    ///
    /// - Parameters:
    ///   - declaration: The declaration.
    ///   - marks: The marks to decide by.
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
        in marks: StateMarks,
        after previous: AppVersion = .zero,
        hasRun: Bool = true,
        attemptLimit: Int?
    ) throws(MigrationError) -> MigrationDecision {
        let version = declaration.version
        let current = rules.appVersion
        let ownMarks = self.marks
        // Since this manager was made, an older app may have begun a migration that this app doesn't declare
        // any more.
        try rules.requireUpgradable(marks)
        try requireOrder(of: declaration, after: previous)
        if version.exceeds(current) { throw rules.newerThanAppError(version) }
        let isLate = version <= marks.lastRun && !hasRun
        if version <= ownMarks.lastRun, hasRun { return .alreadyRun }
        // The version is pending, or was pending when this manager was made. If it was recorded in the
        // meantime, it has run. But if a newer app has recorded a higher version, this app must stop.
        if let newer = newerApp(than: current, at: version, in: marks, isLate: isLate) {
            throw rules.usedByNewerAppError(version, begun: newer, in: marks)
        }
        if marks.lastRun < ownMarks.lastRun { throw resetError(version) }
        if version <= marks.lastRun, !isLate { return .alreadyRun }
        guard let next = marks.attempts(at: version)?.nextAttempt(by: current) else {
            return marks.isFreshInstall(of: current) && !isLate
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
        in marks: StateMarks,
        isLate: Bool
    ) -> AppVersion? {
        if version > marks.lastRun { return marks.begun(above: current) }
        let recorded = marks.recorded(above: current)
        guard isLate, recorded == nil else { return recorded }
        if let attempt = marks.attempts(at: version), attempt.hasBegun, attempt.appVersion.exceeds(current) {
            return attempt.appVersion
        }
        return marks.begun(above: current)
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
        case .alreadyRun where raisesMinimumAppVersion(declaration, in: state.marks):
            return state.raisingMinimumAppVersion(to: minimum)
        default: return nil
        }
    }

    /// True if the declaration raises the minimum app version without a run.
    ///
    /// If a newer release has begun or recorded a migration, the minimum app version stays as that release
    /// set it.
    func raisesMinimumAppVersion(_ declaration: Declaration, in marks: StateMarks) -> Bool {
        marks.minimumAppVersion < declaration.minimumAppVersion
            && marks.begun(above: rules.appVersion) == nil && marks.recorded(above: rules.appVersion) == nil
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

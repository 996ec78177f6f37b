/// The decision about a declaration: ``Declarations`` asks for it by what is known, and ``MigrationRun`` again under the lock.
package enum MigrationDecision {
    /// Runs now: its attempts count this time, its deaths the processes of this app version that died in it.
    case run(AttemptedMigration)
    case alreadyRun
    /// Belongs to the state that a fresh install begins with, as its release does, whichever process made that state.
    case joinsBaseline

    /// The consequence if a state in which nothing ran could not be saved.
    package func consequenceOfNotSaving(_ version: AppVersion) -> Message {
        if case .joinsBaseline = self {
            return
                "Migration \(version) was not run, and was not added to the baseline. The next start adds it."
        }
        return "The minimumAppVersion: of migration \(version) was not saved. The next start saves it."
    }
}

extension Declarations {
    /// Decides about a declaration by the state's own marks; knows no clock, disk or lock.
    ///
    /// `known`, the manager's own marks, are those of the state before this declaration. The version declared before, `previous`, is
    /// zero where the order was looked at already. `hasRun` says of a version up to the last-run version whether it is done: only one
    /// that is declared out of order can be pending there.
    ///
    /// - Throws: ``MigrationError`` with the code `declaredOutOfOrder`, `newerThanCurrentVersion`, `tooOld`, `usedByNewerApp`, `managerClosed` or
    ///   `attemptLimitReached`.
    package func decide(
        _ declaration: Declaration,
        _ marks: StateMarks,
        after previous: AppVersion = .zero,
        hasRun: Bool = true,
        limit: Int?
    ) throws(MigrationError) -> MigrationDecision {
        let (version, floor) = (declaration.version, declaration.minimumAppVersion)
        let (known, current, location) = (self.marks, release.version, release.location)
        // An older app may have begun meanwhile what this one doesn't declare any more.
        try release.requireUpgradable(marks)
        if floor > version {
            throw location.error(
                .declaredOutOfOrder,
                version,
                """
                The minimumAppVersion: \(floor) of migration \(version) in \(location) is above the migration's own version: the \
                app that runs the migration could not use the data.
                """,
                advice: "Pass at most \(version)."
            )
        }
        if version <= previous {
            let text: Message =
                previous == .zero
                ? "Migration 0 is declared in \(location), and 0 is the version of a state in which nothing ran."
                : "Migration \(version) is declared after migration \(previous) in \(location), and is not above it."
            let advice: Message = "Declare each version once, in rising order, and all above 0."
            throw location.error(.declaredOutOfOrder, version, text, advice: advice)
        }
        if version.exceeds(current) { throw release.newer(version) }
        let isLate = version <= marks.lastRun && !hasRun
        if version <= known.lastRun, hasRun { return .alreadyRun }
        // It is pending, or was when this manager was made. A version that was recorded since has run, unless a newer app came further.
        if let newer = newerApp(than: current, at: version, in: marks, isLate: isLate) {
            throw release.usedByNewerApp(version, begun: newer, in: marks)
        }
        if marks.lastRun < known.lastRun {
            // Versions that were declared before may be pending again, and to run this one now would skip them.
            let text: Message = """
                Migration \(version) was not run: the state of \(location) was reset after this manager was made, so versions \
                that were declared before may be pending again. Make a new manager, and declare every migration again.
                """
            throw location.error(.managerClosed, version, text)
        }
        if version <= marks.lastRun, !isLate { return .alreadyRun }
        guard let next = marks.attempts(at: version)?.nextAttempt(by: current) else {
            return marks.isFreshInstall(of: current) && !isLate
                ? .joinsBaseline : .run(AttemptedMigration(version, by: current))
        }
        if let limit, next.deaths >= max(1, limit) {
            let text: Message = """
                Migration \(version) of \(location) was not run: \(next.deaths) \(next.deaths == 1 ? "process" : "processes") of \
                this app version died in it, as many as attemptLimit allows. Offer a way to recover: resetAttempts() lets the next \
                manager try again, and so does a new app version, reset(to:) or a higher limit.
                """
            throw location.error(.attemptLimitReached, version, text)
        }
        return .run(next)
    }

    /// The newer app that keeps `current` from running a version, or from going on as if it had run; `nil` if there is none.
    ///
    /// A late version lies below the last-run version. So whether a newer app has begun it isn't told by the version, but by the app that
    /// made the last attempt. It is refused too if a newer app has recorded a version: its closure was written for older data.
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

    /// The state to save where nothing runs; `nil` where it stands already.
    package func settling(
        _ state: MigrationState,
        _ declaration: Declaration,
        _ decision: MigrationDecision
    ) -> MigrationState? {
        let floor = declaration.minimumAppVersion
        switch decision {
        case .joinsBaseline: return state.joiningBaseline(declaration.version, minimumAppVersion: floor)
        case .alreadyRun where mustRaiseFloor(state.marks, declaration):
            return state.raisingMinimumAppVersion(to: floor)
        default: return nil
        }
    }

    /// True if this app is to raise the floor; it leaves what a newer release said.
    func mustRaiseFloor(_ marks: StateMarks, _ declaration: Declaration) -> Bool {
        marks.minimumAppVersion < declaration.minimumAppVersion
            && marks.begun(above: release.version) == nil && marks.recorded(above: release.version) == nil
    }
}

extension MigrationState {
    /// True if a declared version up to the last-run version is done: unless it is declared out of order, each of them is.
    package func hasRun(_ declaration: Declarations.Declaration) -> Bool {
        !declaration.isOutOfOrder || hasRun(declaration.version)
    }
}

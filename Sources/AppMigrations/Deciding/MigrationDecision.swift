/// The decision about one declared version; a refusal is thrown.
///
/// It knows no clock, disk or lock.
package enum MigrationDecision: Equatable {
    /// Runs now: its attempts count this time, its deaths the processes of this app version that died in it.
    case run(AttemptedMigration)
    case alreadyRun
    /// Belongs to the state that a fresh install begins with, as its release does.
    case joinsBaseline
    /// A newer app had used the data before this manager was made, and `launch` says so: this app leaves the data alone.
    case heldByDowngrade

    /// - Parameters:
    ///   - version: The version declared.
    ///   - previous: The version declared before it; zero when it is the first.
    ///   - release: The app.
    ///   - known: The manager's knowledge of the state before this declaration.
    ///   - marks: The state's own marks, equal to `known` until the lock is held.
    ///   - isFresh: True if this manager made the state, for a fresh install.
    ///   - attemptLimit: How many processes may die in one migration.
    /// - Throws: ``MigrationError`` with the code `outOfOrder`, `newerThanCurrentVersion`, `overtaken`, `blocked` or
    ///   `attemptLimitReached`.
    init(
        _ version: AppVersion,
        after previous: AppVersion,
        by release: AppRelease,
        known: StateMarks,
        marks: StateMarks,
        isFresh: Bool,
        attemptLimit: Int?
    ) throws(MigrationError) {
        let (current, location) = (release.version, release.location)
        if version <= previous {
            let reason: Message =
                previous == .zero
                ? "Version 0 is the mark of a state in which nothing ran, and can't be a migration's"
                : "Migration \(version) is declared after \(previous) and doesn't lie after it"
            let advice: Message = "Declare each version once, in rising order. It was not run."
            throw location.error(.outOfOrder, version, "\(reason), in \(location). \(advice)")
        }
        if version.exceeds(current) { throw release.newer(version) }
        if version <= known.lastRun {
            self = .alreadyRun
        } else if known.isDowngrade(to: current) {
            self = .heldByDowngrade
        } else if marks.isDowngrade(to: current) {
            // The launch of this manager doesn't say so.
            let newer = marks.newest(above: current)
            let text: Message = """
                Migration \(version) was not run: version \(newer) of the app was started on the data of \(location), after this \
                manager of version \(current) was made. Nothing was changed by this call. Write nothing to the data before a new \
                manager says whether this version may use it: where its requiredAppVersion is nil, it may; else start version \
                \(newer) or a later one.
                """
            throw location.error(.overtaken, version, text)
        } else if marks.lastRun < known.lastRun {
            // Versions that were declared before may be pending again, and to run this one now would skip them.
            let text: Message = """
                Migration \(version) was not run: the state of \(location), was set back after this manager was made, and what is \
                pending again was declared before. Make a new manager.
                """
            throw location.error(.blocked, version, text)
        } else if version <= marks.lastRun {
            self = .alreadyRun
        } else if var next = marks.attempts(at: version) {
            if next.appVersion != current { (next.appVersion, next.deaths) = (current, 0) }
            if let attemptLimit, next.deaths >= max(1, attemptLimit) {
                let text: Message = """
                    Migration \(version) of manager \(location.name.quoted) was not run: \(next.deaths) processes of this app \
                    version died in it, as many as attemptLimit allows. The state \(location.state) is unchanged. Offer a way to \
                    recover; resetAttempts() lets the next manager try again, and so does a new app version, reset(to:) or a \
                    higher limit.
                    """
                throw location.error(.attemptLimitReached, version, text)
            }
            next.attempts += 1
            self = .run(next)
        } else if isFresh {
            self = .joinsBaseline
        } else {
            self = .run(AttemptedMigration(version: version, attempts: 1, deaths: 0, appVersion: current))
        }
    }

    /// The consequence where a state in which nothing ran could not be saved.
    package var consequenceOfNotSaving: Message {
        if case .joinsBaseline = self { return "Nothing was run; the next start declares it again." }
        return "Which app may use the data was not noted; the next start does it."
    }
}

extension Declarations {
    /// The state to save where nothing runs; `nil` where it stands already.
    package func settling(
        _ state: MigrationState,
        _ declaration: Declaration,
        _ decision: MigrationDecision
    ) -> MigrationState? {
        let floor = declaration.minimumAppVersion
        switch decision {
        case .joinsBaseline: return state.passing(declaration.version, minimumAppVersion: floor)
        case .alreadyRun where mustRaiseFloor(state.marks, declaration):
            return state.passing(minimumAppVersion: floor)
        default: return nil
        }
    }

    /// True if this app is to raise the floor; it leaves what a newer release said.
    func mustRaiseFloor(_ marks: StateMarks, _ declaration: Declaration) -> Bool {
        marks.minimumAppVersion < declaration.minimumAppVersion && !marks.isDowngrade(to: release.version)
    }
}

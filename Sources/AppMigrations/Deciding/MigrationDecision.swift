/// The decision about one declared version.
///
/// It knows no clock, disk or lock.
package enum MigrationDecision: Equatable {
    /// Runs now; `attempt` counts this time, `deaths` the processes of this app version that died in it.
    case run(attempt: Int, deaths: Int)
    case alreadyRun
    /// Belongs to the state that a fresh install begins with, as its release does.
    case joinsBaseline
    /// A newer app was here when the manager was made, whose `launch` says so: its data isn't touched by this one.
    case heldByDowngrade
    /// A newer app was here since the manager was made, whose `launch` doesn't say so.
    case overtaken(by: AppVersion)
    /// The mark was lowered since the manager was made. Versions that were declared before may be pending again, and to run this
    /// one now would skip them.
    case setBack
    case outOfOrder(after: AppVersion)
    case newerThanCurrent
    case attemptLimitReached(deaths: Int)

    /// - Parameters:
    ///   - version: The version declared.
    ///   - previous: The version declared before it; zero when it is the first.
    ///   - current: The app's version.
    ///   - known: What the manager knew of the state before this declaration.
    ///   - marks: What the state says; the same as `known` until the lock is held.
    ///   - isFresh: Whether this manager made the state, for a fresh install.
    ///   - attemptLimit: How many processes may die in one migration.
    init(
        _ version: AppVersion,
        after previous: AppVersion,
        current: AppVersion,
        known: StateMarks,
        marks: StateMarks,
        isFresh: Bool,
        attemptLimit: Int?
    ) {
        if version <= previous {
            self = .outOfOrder(after: previous)
        } else if version.exceeds(current) {
            self = .newerThanCurrent
        } else if version <= known.lastRun {
            self = .alreadyRun
        } else if known.isDowngrade(to: current) {
            self = .heldByDowngrade
        } else if marks.isDowngrade(to: current) {
            self = .overtaken(by: marks.newest(above: current))
        } else if marks.lastRun < known.lastRun {
            self = .setBack
        } else if version <= marks.lastRun {
            self = .alreadyRun
        } else {
            let attempts = marks.attempts(at: version)
            self =
                isFresh && attempts == nil
                ? .joinsBaseline : Self.attempting(attempts, current: current, limit: attemptLimit)
        }
    }

    private static func attempting(_ known: AttemptedMigration?, current: AppVersion, limit: Int?) -> Self {
        guard let known else { return .run(attempt: 1, deaths: 0) }
        let deaths = known.appVersion == current ? known.deaths : 0
        if let limit, deaths >= max(1, limit) { return .attemptLimitReached(deaths: deaths) }
        return .run(attempt: known.attempts + 1, deaths: deaths)
    }
}

extension MigrationDecision {
    /// The error that the decision stands for, if it stands for one.
    func refusal(of version: AppVersion, by release: AppRelease) -> MigrationError? {
        let location = release.location
        switch self {
        case .run, .alreadyRun, .joinsBaseline, .heldByDowngrade: return nil
        case .outOfOrder(let previous):
            let reason: Message =
                previous == .zero
                ? "Version 0 is the mark of a state in which nothing ran, and can't be a migration's"
                : "Migration \(version) is declared after \(previous) and doesn't lie after it"
            let advice: Message = "Declare each version once, in rising order. It was not run."
            return location.error(.outOfOrder, version, "\(reason), in \(location). \(advice)")
        case .newerThanCurrent: return release.newer(version)
        case .overtaken(let newer):
            return location.error(
                .overtaken,
                version,
                """
                Migration \(version) was not run: version \(newer) of the app was started on the data of \(location), after this \
                manager of version \(release.version) was made. Nothing was changed by this call. Write nothing to the data before a new \
                manager says whether this version may use it: where its requiredAppVersion is nil, it may; else start version \
                \(newer) or a later one.
                """
            )
        case .setBack:
            return location.error(
                .blocked,
                version,
                """
                Migration \(version) was not run: the state of \(location), was set back after this manager was made, and what is \
                pending again was declared before. Make a new manager.
                """
            )
        case .attemptLimitReached(let deaths):
            return location.error(
                .attemptLimitReached,
                version,
                """
                Migration \(version) of manager \(location.name.quoted) was not run: \(deaths) processes of this app version died \
                in it, as many as attemptLimit allows. The state \(location.state) is unchanged. Offer a way to recover; \
                resetAttempts() lets the next manager try again, and so does a new app version, reset(to:) or a higher limit.
                """
            )
        }
    }

    /// The consequence where a state in which nothing ran could not be saved.
    package var consequenceOfNotSaving: Message {
        if case .joinsBaseline = self { return "Nothing was run; the next start declares it again." }
        return "Which app may use the data was not noted; the next start does it."
    }
}

/// What is to be done with one declared version.
///
/// It knows no clock, disk or lock.
enum MigrationDecision: Equatable {
    /// Runs now; `attempt` counts this time, `deaths` the processes of this app version that died in it.
    case run(attempt: Int, deaths: Int)
    case alreadyRun
    /// Belongs to the state that a fresh install begins with, as its release does.
    case joinsBaseline
    /// A newer app was here: its data isn't touched by this one.
    case heldByDowngrade
    case outOfOrder(after: AppVersion)
    case newerThanCurrent
    case attemptLimitReached(deaths: Int)

    /// - Parameters:
    ///   - version: The version declared.
    ///   - previous: The version declared before it; zero when it is the first.
    ///   - current: The app's version.
    ///   - marks: What the state says.
    ///   - isFresh: Whether this manager made the state, for a fresh install.
    ///   - attemptLimit: How many processes may die in one migration.
    init(
        _ version: AppVersion,
        after previous: AppVersion,
        current: AppVersion,
        marks: StateMarks,
        isFresh: Bool,
        attemptLimit: Int?
    ) {
        if version <= previous {
            self = .outOfOrder(after: previous)
        } else if version.exceeds(current) {
            self = .newerThanCurrent
        } else if version <= marks.lastRun {
            self = .alreadyRun
        } else if marks.isDowngrade(to: current) {
            self = .heldByDowngrade
        } else if isFresh, marks.interrupted?.version != version {
            self = .joinsBaseline
        } else {
            self.init(
                attempting: version,
                current: current,
                interrupted: marks.interrupted,
                limit: attemptLimit
            )
        }
    }

    // A state edited by hand may hold a number that has no next one.
    private static var mostAttempts: Int { 999_999_999 }

    private init(attempting version: AppVersion, current: AppVersion, interrupted: Interruption?, limit: Int?)
    {
        guard let interrupted, interrupted.version == version else {
            self = .run(attempt: 1, deaths: 0)
            return
        }
        var deaths = 0
        if interrupted.appVersion == current {
            deaths = min(interrupted.deaths, Self.mostAttempts) + (interrupted.failure == nil ? 1 : 0)
        }
        if let limit, deaths >= max(1, limit) {
            self = .attemptLimitReached(deaths: deaths)
        } else {
            self = .run(attempt: min(interrupted.attempts, Self.mostAttempts) + 1, deaths: deaths)
        }
    }
}

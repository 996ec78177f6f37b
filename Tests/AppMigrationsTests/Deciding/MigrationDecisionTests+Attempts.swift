@testable import AppMigrations

extension MigrationDecisionTests {
    /// Attempts that came before, and the limit of deaths.
    static let attempts: [Row] = [
        Row(
            situation: "the process died once",
            version: "1.2",
            interrupted: Attempt(),
            decision: .run(attempt: 2, deaths: 1)
        ),
        Row(
            situation: "the closure threw",
            version: "1.2",
            interrupted: Attempt(failure: "full"),
            decision: .run(attempt: 2, deaths: 0)
        ),
        Row(
            situation: "it died twice and threw in between",
            version: "1.2",
            interrupted: Attempt(attempts: 3, deaths: 1),
            decision: .run(attempt: 4, deaths: 2)
        ),
        Row(
            situation: "another migration died",
            version: "1.2",
            limit: 1,
            interrupted: Attempt(version: "1.3", deaths: 9),
            decision: .run(attempt: 1, deaths: 0)
        ),
        Row(
            situation: "it died, and another migration was begun since",
            version: "1.3",
            interrupted: Attempt(failure: "full"),
            attempted: [
                Attempt(version: "1.4", attempts: 7, deaths: 5),
                Attempt(version: "1.3", attempts: 3, deaths: 2),
            ],
            decision: .run(attempt: 4, deaths: 2)
        ),
        Row(
            situation: "it died as often as the limit says, and another migration was begun since",
            version: "1.3",
            limit: 2,
            interrupted: Attempt(failure: "full"),
            attempted: [Attempt(version: "1.3", attempts: 3, deaths: 2)],
            decision: .attemptLimitReached(deaths: 2)
        ),
        Row(
            situation: "a new app version starts the count of every pending version again",
            version: "1.3",
            limit: 2,
            attempted: [Attempt(version: "1.3", attempts: 3, deaths: 2, appVersion: "1.3")],
            decision: .run(attempt: 4, deaths: 0)
        ),
        Row(
            situation: "a fresh install's sub-migration that another process began",
            version: "1.4-1",
            lastRun: "1.4",
            isFresh: true,
            attempted: [Attempt(version: "1.4-1", failure: "full")],
            decision: .run(attempt: 2, deaths: 0)
        ),
        Row(
            situation: "below the limit of attempts",
            version: "1.2",
            limit: 3,
            interrupted: Attempt(attempts: 2, deaths: 1),
            decision: .run(attempt: 3, deaths: 2)
        ),
        Row(
            situation: "at the limit of attempts",
            version: "1.2",
            limit: 3,
            interrupted: Attempt(attempts: 3, deaths: 2),
            decision: .attemptLimitReached(deaths: 3)
        ),
        Row(
            situation: "throws don't count for the limit",
            version: "1.2",
            limit: 3,
            interrupted: Attempt(attempts: 9, deaths: 2, failure: "full"),
            decision: .run(attempt: 10, deaths: 2)
        ),
        Row(
            situation: "a new app version starts the count again",
            version: "1.2",
            limit: 3,
            interrupted: Attempt(attempts: 5, deaths: 4, appVersion: "1.3"),
            decision: .run(attempt: 6, deaths: 0)
        ),
        Row(
            situation: "a limit below one counts as one",
            version: "1.2",
            limit: 0,
            interrupted: Attempt(failure: "full"),
            decision: .run(attempt: 2, deaths: 0)
        ),
        Row(
            situation: "one death is the limit below one",
            version: "1.2",
            limit: 0,
            interrupted: Attempt(),
            decision: .attemptLimitReached(deaths: 1)
        ),
    ]
}

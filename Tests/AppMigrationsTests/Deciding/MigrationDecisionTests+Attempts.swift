@testable import AppMigrations

extension MigrationDecisionTests {
    /// Attempts that came before, and the limit of crashes.
    static let attempts: [Row] = [
        Row("the process died once", "1.2", .run(attempt: 2, crashCount: 1), interrupted: Attempt()),
        Row(
            "the closure threw",
            "1.2",
            .run(attempt: 2, crashCount: 0),
            interrupted: Attempt(failure: "full")
        ),
        Row(
            "it died twice and threw in between",
            "1.2",
            .run(attempt: 4, crashCount: 2),
            interrupted: Attempt(attemptCount: 3, crashCount: 1)
        ),
        Row(
            "another migration died",
            "1.2",
            .first,
            limit: 1,
            interrupted: Attempt(version: "1.3", crashCount: 9)
        ),
        Row(
            "it died, and another migration was begun since",
            "1.3",
            .run(attempt: 4, crashCount: 2),
            interrupted: Attempt(failure: "full"),
            otherAttempts: [
                Attempt(version: "1.4", attemptCount: 7, crashCount: 5),
                Attempt(version: "1.3", attemptCount: 3, crashCount: 2),
            ]
        ),
        Row(
            "it died as often as the limit says, and another migration was begun since",
            "1.3",
            .refused(.attemptLimitReached, "2 processes"),
            limit: 2,
            interrupted: Attempt(failure: "full"),
            otherAttempts: [Attempt(version: "1.3", attemptCount: 3, crashCount: 2)]
        ),
        Row(
            "a new app version starts the count of every pending version again",
            "1.3",
            .run(attempt: 4, crashCount: 0),
            limit: 2,
            otherAttempts: [Attempt(version: "1.3", attemptCount: 3, crashCount: 2, appVersion: "1.3")]
        ),
        Row(
            "a fresh install's sub-migration that another process began",
            "1.4-1",
            .run(attempt: 2, crashCount: 0),
            lastRun: "1.4",
            freshInstall: "1.4",
            otherAttempts: [Attempt(version: "1.4-1", failure: "full")]
        ),
        Row(
            "below the limit of attempts",
            "1.2",
            .run(attempt: 3, crashCount: 2),
            limit: 3,
            interrupted: Attempt(attemptCount: 2, crashCount: 1)
        ),
        Row(
            "at the limit of attempts",
            "1.2",
            .refused(.attemptLimitReached, "3 processes"),
            limit: 3,
            interrupted: Attempt(attemptCount: 3, crashCount: 2)
        ),
        Row(
            "throws don't count for the limit",
            "1.2",
            .run(attempt: 10, crashCount: 2),
            limit: 3,
            interrupted: Attempt(attemptCount: 9, crashCount: 2, failure: "full")
        ),
        Row(
            "a new app version starts the count again",
            "1.2",
            .run(attempt: 6, crashCount: 0),
            limit: 3,
            interrupted: Attempt(attemptCount: 5, crashCount: 4, appVersion: "1.3")
        ),
        Row(
            "a limit below one counts as one",
            "1.2",
            .run(attempt: 2, crashCount: 0),
            limit: 0,
            interrupted: Attempt(failure: "full")
        ),
        Row(
            "one death is the limit below one",
            "1.2",
            .refused(.attemptLimitReached, "1 process of"),
            limit: 0,
            interrupted: Attempt()
        ),
    ]
}

import Testing

@testable import AppMigrations

struct MigrationDecisionTests {
    /// One situation; what isn't said is an app 1.4 whose data was last migrated, and last started, at 1.1.
    struct Row: CustomTestStringConvertible {
        let situation: String
        let version: String
        var after = "0"
        var current = "1.4"
        var lastRun = "1.1"
        var launched = "1.1"
        /// What the manager knew before, where that isn't what the state says: the last run, and the version launched.
        var known: (lastRun: String, launched: String)?
        var isFresh = false
        var limit: Int?
        var interrupted: Attempt?
        var attempted: [Attempt] = []
        let decision: MigrationDecision

        var testDescription: String { situation }
    }

    struct Attempt {
        var version = "1.2"
        var attempts = 1
        var deaths = 0
        var appVersion = "1.4"
        var failure: String?
    }

    static let versions: [Row] = [
        Row(situation: "the last-run version itself", version: "1.1", decision: .alreadyRun),
        Row(situation: "below the last-run version", version: "1.0.9", decision: .alreadyRun),
        Row(situation: "the last-run version, longer", version: "1.1.0", decision: .alreadyRun),
        Row(situation: "between last run and current", version: "1.2", decision: .run(attempt: 1, deaths: 0)),
        Row(situation: "the current version", version: "1.4", decision: .run(attempt: 1, deaths: 0)),
        Row(
            situation: "a sub-migration of the last-run version",
            version: "1.1-1",
            decision: .run(attempt: 1, deaths: 0)
        ),
        Row(
            situation: "a sub-migration of the current version",
            version: "1.4-3",
            decision: .run(attempt: 1, deaths: 0)
        ),
        Row(
            situation: "a sub-migration of the current, longer",
            version: "1.4.0-3",
            decision: .run(attempt: 1, deaths: 0)
        ),
        Row(
            situation: "up to the hard limit",
            version: "1.4-2",
            current: "1.4-2",
            decision: .run(attempt: 1, deaths: 0)
        ),
        Row(
            situation: "above the hard limit",
            version: "1.4-3",
            current: "1.4-2",
            decision: .newerThanCurrent
        ),
        Row(situation: "a part of the current version", version: "1.4.1", decision: .newerThanCurrent),
        Row(situation: "a sub-migration of a later version", version: "1.5-1", decision: .newerThanCurrent),
        Row(situation: "above the current version", version: "1.5", decision: .newerThanCurrent),
        Row(situation: "newer, though it ran", version: "1.5", lastRun: "1.6", decision: .newerThanCurrent),
        Row(
            situation: "declared twice",
            version: "1.2",
            after: "1.2",
            decision: .outOfOrder(after: version("1.2"))
        ),
        Row(
            situation: "declared twice, longer",
            version: "1.2.0",
            after: "1.2",
            decision: .outOfOrder(after: version("1.2"))
        ),
        Row(
            situation: "declared too late",
            version: "1.2",
            after: "1.3",
            decision: .outOfOrder(after: version("1.3"))
        ),
        Row(
            situation: "ran, but too late",
            version: "1.0",
            after: "1.1",
            decision: .outOfOrder(after: version("1.1"))
        ),
        Row(
            situation: "version zero",
            version: "0.0",
            lastRun: "0",
            decision: .outOfOrder(after: version("0"))
        ),
        Row(
            situation: "a fresh install",
            version: "1.4",
            lastRun: "1.4",
            isFresh: true,
            decision: .alreadyRun
        ),
        Row(
            situation: "a fresh install's sub-migration",
            version: "1.4-1",
            lastRun: "1.4",
            isFresh: true,
            decision: .joinsBaseline
        ),
        Row(
            situation: "a sub-migration added later",
            version: "1.4-1",
            lastRun: "1.4",
            launched: "1.4",
            decision: .run(attempt: 1, deaths: 0)
        ),
        Row(situation: "everything", version: "0-1", lastRun: "0", decision: .run(attempt: 1, deaths: 0)),
        Row(
            situation: "a newer release was launched",
            version: "1.2",
            launched: "1.5",
            decision: .heldByDowngrade
        ),
        Row(situation: "a newer release migrated", version: "1.4-1", lastRun: "1.5", decision: .alreadyRun),
        Row(situation: "a newer sub-migration ran", version: "1.4", lastRun: "1.4-1", decision: .alreadyRun),
        Row(
            situation: "a newer app was launched since",
            version: "1.2",
            launched: "1.5",
            known: ("1.1", "1.1"),
            decision: .overtaken(by: version("1.5"))
        ),
        Row(
            situation: "a newer app ran it since",
            version: "1.2",
            lastRun: "1.5-2",
            known: ("1.1", "1.1"),
            decision: .overtaken(by: version("1.5"))
        ),
        Row(
            situation: "a newer sub-migration ran since than the app may run",
            version: "1.4-2",
            current: "1.4-2",
            lastRun: "1.4-3",
            known: ("1.1", "1.4"),
            decision: .overtaken(by: version("1.4-3"))
        ),
        Row(
            situation: "a newer app was here since, and the version is known to have run",
            version: "1.1",
            lastRun: "1.5",
            known: ("1.1", "1.1"),
            decision: .alreadyRun
        ),
        Row(
            situation: "a downgrade, and the newer app's mark was lowered since",
            version: "1.2",
            known: ("1.1", "1.5"),
            decision: .heldByDowngrade
        ),
        Row(
            situation: "another process of this version ran it since",
            version: "1.2",
            lastRun: "1.2",
            launched: "1.4",
            known: ("1.1", "1.1"),
            decision: .alreadyRun
        ),
        Row(
            situation: "the mark was lowered since",
            version: "1.3",
            known: ("1.2", "1.4"),
            decision: .setBack
        ),
    ]

    @Test(arguments: versions + attempts)
    func `each situation has its decision`(row: Row) {
        var marks = StateMarks(
            lastRun: version(row.lastRun),
            baseline: version(row.lastRun),
            launched: version(row.launched),
            interrupted: row.interrupted.map {
                Interruption(
                    version: version($0.version),
                    attempts: $0.attempts,
                    deaths: $0.deaths,
                    protected: [],
                    appVersion: version($0.appVersion),
                    startedAt: 0,
                    failure: $0.failure
                )
            }
        )
        marks.attempted = row.attempted.map {
            AttemptedMigration(
                version: version($0.version),
                attempts: $0.attempts,
                deaths: $0.deaths,
                appVersion: version($0.appVersion)
            )
        }
        let known = row.known.map {
            StateMarks(
                lastRun: version($0.lastRun),
                baseline: version($0.lastRun),
                launched: version($0.launched),
                interrupted: nil
            )
        }
        let decision = MigrationDecision(
            version(row.version),
            after: version(row.after),
            current: version(row.current),
            known: known ?? marks,
            marks: marks,
            isFresh: row.isFresh,
            attemptLimit: row.limit
        )
        #expect(decision == row.decision)
    }
}

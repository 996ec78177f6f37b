import Testing

@testable import AppMigrations

struct MigrationDecisionTests {
    enum Outcome {
        case run(attempt: Int, crashCount: Int)
        case alreadyRun, joinsBaseline
        /// The text has this part.
        case refused(MigrationError.Code, String)

        static let first = Outcome.run(attempt: 1, crashCount: 0)
        static let newer = Outcome.refused(.newerThanCurrentVersion, "newer than the app")
    }

    /// One situation; what isn't said is an app 1.4 whose data was last migrated, and last started, at 1.1.
    struct Row: CustomTestStringConvertible {
        let situation: String
        let version: String
        let outcome: Outcome
        let after: String
        let current: String
        let lastRun: String
        let launched: String
        let floor: String
        /// The last run and the version launched as the manager knew them, where the state says something else.
        let known: (lastRun: String, launched: String)?
        let freshInstall: String?
        let limit: Int?
        let interrupted: Attempt?
        let otherAttempts: [Attempt]
        let isLate: Bool

        init(
            _ situation: String,
            _ version: String,
            _ outcome: Outcome,
            after: String = "0",
            current: String = "1.4",
            lastRun: String = "1.1",
            launched: String = "1.1",
            floor: String = "0",
            known: (lastRun: String, launched: String)? = nil,
            freshInstall: String? = nil,
            limit: Int? = nil,
            interrupted: Attempt? = nil,
            otherAttempts: [Attempt] = [],
            isLate: Bool = false
        ) {
            (self.situation, self.version, self.outcome) = (situation, version, outcome)
            (self.after, self.current, self.lastRun, self.launched) = (after, current, lastRun, launched)
            self.floor = floor
            (self.known, self.freshInstall, self.limit) = (known, freshInstall, limit)
            (self.interrupted, self.otherAttempts) = (interrupted, otherAttempts)
            self.isLate = isLate
        }

        var testDescription: String { situation }
    }

    struct Attempt {
        var version = "1.2"
        var attemptCount = 1
        var crashCount = 0
        var appVersion = "1.4"
        var failure: String?

        var known: AttemptedMigration {
            AttemptedMigration(version, attemptCount, crashCount: crashCount, by: appVersion)
        }
    }

    static let versions: [Row] = [
        Row("the last-run version itself", "1.1", .alreadyRun),
        Row("below the last-run version", "1.0.9", .alreadyRun),
        Row("the last-run version, longer", "1.1.0", .alreadyRun),
        Row("between last run and current", "1.2", .first),
        Row("the current version", "1.4", .first),
        Row("a sub-migration of the last-run version", "1.1-1", .first),
        Row("a sub-migration of the current version", "1.4-3", .first),
        Row("a sub-migration of the current, longer", "1.4.0-3", .first),
        Row("up to the hard limit", "1.4-2", .first, current: "1.4-2"),
        Row("above the hard limit", "1.4-3", .newer, current: "1.4-2"),
        Row("a part of the current version", "1.4.1", .newer),
        Row("a sub-migration of a later version", "1.5-1", .newer),
        Row("above the current version", "1.5", .newer),
        Row("newer, though it ran", "1.5", .newer, lastRun: "1.6"),
        Row("declared twice", "1.2", .refused(.declaredOutOfOrder, "after migration 1.2 "), after: "1.2"),
        Row(
            "declared twice, longer",
            "1.2.0",
            .refused(.declaredOutOfOrder, "after migration 1.2 "),
            after: "1.2"
        ),
        Row("declared too late", "1.2", .refused(.declaredOutOfOrder, "after migration 1.3 "), after: "1.3"),
        Row("ran, but too late", "1.0", .refused(.declaredOutOfOrder, "after migration 1.1 "), after: "1.1"),
        Row(
            "version zero",
            "0.0",
            .refused(.declaredOutOfOrder, "Version 0 can't be declared"),
            lastRun: "0"
        ),
        Row("a fresh install", "1.4", .alreadyRun, lastRun: "1.4", freshInstall: "1.4"),
        Row("a fresh install's sub-migration", "1.4-1", .joinsBaseline, lastRun: "1.4", freshInstall: "1.4"),
        Row(
            "a fresh install that was made since",
            "1.4-1",
            .joinsBaseline,
            lastRun: "1.4",
            known: ("1.4", "1.4"),
            freshInstall: "1.4"
        ),
        Row(
            "a sub-migration of an older fresh install",
            "1.3-1",
            .first,
            lastRun: "1.3",
            freshInstall: "1.3"
        ),
        Row("a sub-migration added later", "1.4-1", .first, lastRun: "1.4", launched: "1.4"),
        Row("everything", "0-1", .first, lastRun: "0"),
        Row("a newer release was launched, and began nothing", "1.2", .first, launched: "99.0.0"),
        Row("a newer release migrated", "1.4-1", .alreadyRun, lastRun: "1.5"),
        Row("a newer sub-migration ran", "1.4", .alreadyRun, lastRun: "1.4-1"),
        Row("a newer app was launched since", "1.2", .first, launched: "1.5", known: ("1.1", "1.1")),
        Row(
            "a newer app ran it since",
            "1.2",
            .refused(.usedByNewerApp, "version 1.5 of the app"),
            lastRun: "1.5-2",
            known: ("1.1", "1.1")
        ),
        Row(
            "a newer sub-migration ran since than the app may run",
            "1.4-2",
            .refused(.usedByNewerApp, "version 1.4-3 of the app"),
            current: "1.4-2",
            lastRun: "1.4-3",
            known: ("1.1", "1.4")
        ),
        Row("a newer app since, and it has run", "1.1", .alreadyRun, lastRun: "1.5", known: ("1.1", "1.1")),
        Row("a newer app was launched, and its mark lowered since", "1.2", .first, known: ("1.1", "1.5")),
        Row("another process ran it since", "1.2", .alreadyRun, lastRun: "1.2", known: ("1.1", "1.1")),
        Row(
            "the mark was lowered since",
            "1.3",
            .refused(.managerClosed, "was reset after"),
            known: ("1.2", "1.4")
        ),
    ]

    /// Each has a version that lies above the last-run version, where a newer app has begun something, unless it says otherwise.
    static let newerApps: [Row] = [
        Row("a newer app shut this one out", "1.2", .refused(.usedByNewerApp, "version 1.5 "), floor: "1.5"),
        Row("a floor of this very release", "1.2", .first, floor: "1.4-1"),
        Row("below a floor, and it has run", "1.1", .alreadyRun, floor: "1.5"),
        Row(
            "a newer app died above this one",
            "1.2",
            .refused(.usedByNewerApp, "version 1.5 "),
            interrupted: Attempt(version: "1.5", appVersion: "1.5")
        ),
        Row(
            "a newer app failed above this one",
            "1.2",
            .refused(.usedByNewerApp, "version 1.5 "),
            interrupted: Attempt(version: "1.5-2", appVersion: "1.6", failure: "x")
        ),
        Row(
            "a newer app failed above this one, then in an older migration",
            "1.2",
            .refused(.usedByNewerApp, "version 1.5 "),
            interrupted: Attempt(version: "1.3", appVersion: "1.5", failure: "x"),
            otherAttempts: [Attempt(version: "1.5", appVersion: "1.5")]
        ),
        Row(
            "a newer app failed in the very migration",
            "1.2",
            .run(attempt: 2, crashCount: 0),
            launched: "1.5",
            interrupted: Attempt(version: "1.2", appVersion: "1.5", failure: "x")
        ),
        Row(
            "a newer app died in a later migration of this app",
            "1.2",
            .first,
            launched: "1.5",
            interrupted: Attempt(version: "1.4-7", appVersion: "1.5")
        ),
        Row(
            "a newer app began above this one, and it has run",
            "1.1",
            .alreadyRun,
            interrupted: Attempt(version: "1.5", appVersion: "1.5")
        ),
        Row(
            "a newer app began above the hard limit",
            "1.4-1",
            .refused(.usedByNewerApp, "version 1.4-3 "),
            current: "1.4-2",
            interrupted: Attempt(version: "1.4-3", appVersion: "1.4")
        ),
        Row(
            "a newer app shut this one out since, and ran it",
            "1.2",
            .refused(.usedByNewerApp, "version 1.5 "),
            lastRun: "1.3",
            floor: "1.5",
            known: ("1.1", "1.1")
        ),
        Row(
            "a newer app ran it since, and no version above this app",
            "1.2",
            .alreadyRun,
            lastRun: "1.3",
            launched: "1.5",
            known: ("1.1", "1.1")
        ),
    ]

    /// Each has an `addedIn`, lies below the last-run version, and has not run on the data.
    static let late: [Row] = [
        Row("late", "1.0.9", .first, isLate: true),
        Row("the last-run version, which was passed over", "1.1", .first, isLate: true),
        Row("late, and above the last-run version", "1.2", .first, isLate: true),
        Row(
            "late, and misplaced",
            "1.0.9",
            .refused(.declaredOutOfOrder, "after migration 1.1 "),
            after: "1.1",
            isLate: true
        ),
        Row("late, and newer than the app", "1.5", .newer, lastRun: "1.6", isLate: true),
        Row(
            "late, and tried before",
            "1.0.9",
            .run(attempt: 2, crashCount: 1),
            interrupted: Attempt(version: "1.0.9"),
            isLate: true
        ),
        Row(
            "late, and as often as the limit allows",
            "1.0.9",
            .refused(.attemptLimitReached, "1 process of"),
            limit: 1,
            interrupted: Attempt(version: "1.0.9"),
            isLate: true
        ),
        Row(
            "late, and begun by a newer app",
            "1.0.9",
            .refused(.usedByNewerApp, "version 1.5 "),
            interrupted: Attempt(version: "1.0.9", appVersion: "1.5", failure: "x"),
            isLate: true
        ),
        Row(
            "late, while another late one was begun by a newer app",
            "1.0.9",
            .first,
            interrupted: Attempt(version: "1.0.8", appVersion: "1.5", failure: "x"),
            isLate: true
        ),
        Row(
            "late, where a newer app began above this one",
            "1.0.9",
            .refused(.usedByNewerApp, "version 1.5 "),
            interrupted: Attempt(version: "1.5", appVersion: "1.5"),
            isLate: true
        ),
        Row(
            "late, below a floor",
            "1.0.9",
            .refused(.usedByNewerApp, "version 1.5 "),
            floor: "1.5",
            isLate: true
        ),
        Row(
            "late, where a newer app has migrated",
            "1.0.9",
            .refused(.usedByNewerApp, "version 1.5 "),
            lastRun: "1.5",
            isLate: true
        ),
        Row("late, where a newer app was launched", "1.0.9", .first, launched: "1.5", isLate: true),
        Row(
            "late, and the mark was lowered since",
            "1.0.9",
            .refused(.managerClosed, "was reset after"),
            known: ("1.2", "1.4"),
            isLate: true
        ),
        Row("late in a fresh install", "1.3", .first, lastRun: "1.4", freshInstall: "1.4", isLate: true),
    ]

    @Test(arguments: versions + newerApps + attempts + late)
    func `each situation has its decision`(row: Row) throws {
        let interrupted = row.interrupted.map { LatestAttempt($0.known, at: 0, failure: $0.failure) }
        let versions = StateVersions(
            lastRun: version(row.lastRun),
            baseline: version(row.lastRun),
            launched: version(row.launched),
            freshInstall: row.freshInstall.map(version),
            minimumAppVersion: version(row.floor),
            latestAttempt: interrupted,
            otherAttempts: row.otherAttempts.map(\.known)
        )
        let known = row.known.map {
            StateVersions(
                lastRun: version($0.lastRun),
                baseline: version($0.lastRun),
                launched: version($0.launched)
            )
        }
        let location = StateLocation(name: "Library", directory: "/d")
        let rules = try UpgradeRules(appVersion: version(row.current), upgradesFrom: nil, in: location)
        do throws(MigrationError) {
            let pending = DeclaredMigration(version: version(row.version))
            let decision = try Declarations(known ?? versions, under: rules)
                .decide(
                    pending,
                    in: versions,
                    after: version(row.after),
                    hasRun: !row.isLate,
                    attemptLimit: row.limit
                )
            if case .run(let next) = decision {
                let outcome = Outcome.run(attempt: next.attemptCount, crashCount: next.crashCount)
                #expect("\(outcome)" == "\(row.outcome)")
                #expect(next.version == version(row.version) && next.appVersion == version(row.current))
            } else {
                #expect("\(decision)" == "\(row.outcome)")
            }
        } catch {
            guard case .refused(let code, let text) = row.outcome else { throw error }
            #expect(error.code == code && error.description.contains(text), "\(error)")
        }
    }
}

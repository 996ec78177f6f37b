import Testing

@testable import AppMigrations

struct MigrationErrorTests {
    static let location = StateLocation(name: "Library", directory: "/d")
    static let full = SystemCallError(call: "write", errorNumber: 28)
    static let state = "The state of manager \"Library\" (/d/Library.migrations.json)"
    private static let grammar =
        "A version consists of numbers separated by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2. A beta has the"
        + " version of its release; what changes between two betas is 2.0-1, 2.0-2."

    struct Row: CustomTestStringConvertible {
        let code: MigrationError.Code
        let error: MigrationError
        let text: String

        init(_ code: MigrationError.Code, _ error: MigrationError, _ text: String) {
            self.code = code
            self.error = error
            self.text = text
        }

        var testDescription: String { "\(code): \(text.prefix(60))" }
    }

    static func thrown(_ body: () throws -> Any) -> MigrationError {
        let error = #expect(throws: MigrationError.self) { _ = try body() }
        return error ?? MigrationError(.managerClosed, "Nothing was thrown.")
    }

    private static func release() throws -> UpgradeRules {
        try UpgradeRules(appVersion: version("1.4"), upgradesFrom: nil, in: location)
    }

    private static func refusal(
        _ declared: String,
        after previous: String = "0",
        begun newer: String? = nil,
        crashCount: Int = 0
    ) -> MigrationError {
        let attempts = [
            AttemptedMigration(newer ?? declared, crashCount, crashCount: crashCount, by: newer ?? "1.4")
        ]
        let versions = StateVersions(launched: version("1.4"), otherAttempts: attempts)
        let initialVersions = StateVersions(launched: version("1.4"))
        let pending = DeclaredMigration(version: version(declared))
        return thrown {
            try Declarations(initialVersions, under: release()).decide(
                pending,
                in: versions,
                after: version(previous),
                attemptLimit: 3
            )
        }
    }

    private static let declaring: [Row] = [
        Row(
            .invalidVersion,
            thrown { try AppVersion("v1", of: "currentVersion:", manager: "Library") }
                .leaving(.everything),
            "The version \"v1\" can't be read: a digit is missing at character 1. It is the currentVersion: of manager \"Library\". "
                + "Nothing was run. \(grammar)"
        ),
        Row(
            .newerThanCurrentVersion,
            refusal("1.5"),
            "Migration 1.5 of manager \"Library\" (/d/Library.migrations.json) is newer than the app (1.4). "
                + "Raise the app's version or remove the migration."
        ),
        Row(
            .newerThanCurrentVersion,
            thrown { try release().versions(resetTo: "1.5") },
            "Version 1.5, the version of reset(to:) in manager \"Library\" (/d/Library.migrations.json), is newer than the app "
                + "(1.4). Pass the version that the data is at. If a newer app changed the data, start that app."
        ),
        Row(
            .declaredOutOfOrder,
            refusal("1.1", after: "1.2"),
            "Migration 1.1 is declared after migration 1.2 in manager \"Library\" (/d/Library.migrations.json), and is not above "
                + "it. Declare each version once, in rising order, and all above 0."
        ),
        Row(
            .declaredOutOfOrder,
            refusal("0"),
            "Migration 0 is declared in manager \"Library\" (/d/Library.migrations.json). Version 0 can't be declared: it means that "
                + "nothing has run. Declare each version once, in rising order, and all above 0."
        ),
        Row(
            .nested,
            .nested(version("1.2"), in: location),
            "This call would wait for itself. A closure, a plan or a declaration of manager \"Library\" "
                + "(/d/Library.migrations.json) is running, and the call was made inside it or at the same time. In a plan, use the "
                + "manager that its closure gets. Elsewhere, declare this version after the other declaration has returned, not inside "
                + "its closure. In asynchronous code, await each declaration."
        ),
        Row(
            .usedByNewerApp,
            refusal("1.4", begun: "1.5"),
            "Migration 1.4 of manager \"Library\" (/d/Library.migrations.json) was not run: version 1.5 of the app has begun to "
                + "change the data, and this app is version 1.4. Start version 1.5 or a later one. If "
                + "the data is still as version 0 left it, call reset(to: \"0\"). Every later version is then pending again."
        ),
        Row(
            .managerClosed,
            .managerClosed(nil, by: .gone(location), in: location),
            "The declared migration was not run: manager \"Library\" (/d/Library.migrations.json) was closed because of an "
                + "earlier failure. Fix that failure and create a new manager. The first failure: \(state) existed when the "
                + "manager was created, but it no longer exists. Create a new manager, which begins with a first run."
        ),
    ]

    private static let running: [Row] = [
        Row(
            .migrationFailed,
            .failed(version("1.2"), in: location, attempt: 3, because: Failure(), consequence: " The end."),
            "Migration 1.2 of manager \"Library\" (/d/Library.migrations.json) failed in attempt 3: The disk is full. It is not "
                + "recorded, and runs again with the next manager. The end."
        ),
        Row(
            .migrationFailed,
            .failed(version("1.2"), in: location, attempt: 1, because: full, consequence: ""),
            "Migration 1.2 of manager \"Library\" (/d/Library.migrations.json) failed in attempt 1: No space left on device "
                + "(write, errno 28). It is not recorded, and runs again with the next manager."
        ),
        Row(
            .cancelled,
            .failed(version("1.2"), in: location, attempt: 1, because: CancellationError(), consequence: ""),
            "Migration 1.2 of manager \"Library\" (/d/Library.migrations.json) was cancelled in attempt 1. It is not recorded, "
                + "and runs again with the next manager."
        ),
        Row(
            .cancelled,
            .failed(
                version("1.2"),
                in: location,
                attempt: 1,
                because: location.cancelledAtCheckpoint(of: version("1.2")),
                consequence: ""
            ),
            "Migration 1.2 of manager \"Library\" (/d/Library.migrations.json) was cancelled in attempt 1. The task of migration "
                + "1.2 of manager \"Library\" (/d/Library.migrations.json) was cancelled. Its checkpoint is saved, and the next "
                + "attempt continues from it. It is not recorded, and runs again with the next manager."
        ),
        Row(
            .attemptLimitReached,
            refusal("1.2", crashCount: 3),
            "Migration 1.2 of manager \"Library\" (/d/Library.migrations.json) was not run: 3 processes of "
                + "this app version crashed in it, as many as attemptLimit allows. Offer a way to recover: resetAttempts() lets the next manager try again, "
                + "and so does a new app version, reset(to:) or a higher limit."
        ),
        Row(
            .firstRunFailed,
            .firstRunFailed(Failure(description: "What now?"), location),
            "The firstRun: expression of manager \"Library\" (/d/Library.migrations.json) failed: What now? No state was "
                + "written and no migration was run. The next manager evaluates firstRun: again."
        ),
    ]

    @Test(arguments: declaring + running + reading)
    func `each error says what happened, where, what was not changed and what to do`(row: Row) {
        #expect(row.error.description == row.text)
        #expect(row.error.code == row.code)
        #expect("\(row.error)" == row.text)
        #expect(row.error.isTransient == (row.code == .lockTimeout))
    }

    private static let names: [(MigrationError.Code, String)] = [
        (.invalidVersion, "invalidVersion"), (.unknownCurrentVersion, "unknownCurrentVersion"),
        (.invalidName, "invalidName"), (.newerThanCurrentVersion, "newerThanCurrentVersion"),
        (.declaredOutOfOrder, "declaredOutOfOrder"), (.managerClosed, "managerClosed"),
        (.usedByNewerApp, "usedByNewerApp"), (.tooOld, "tooOld"),
        (.readOnly, "readOnly"), (.nested, "nested"), (.migrationFailed, "migrationFailed"),
        (.cancelled, "cancelled"), (.attemptLimitReached, "attemptLimitReached"),
        (.lockTimeout, "lockTimeout"), (.stateUnreadable, "stateUnreadable"),
        (.stateCorrupted, "stateCorrupted"), (.stateFromNewerFormat, "stateFromNewerFormat"),
        (.stateNotSaved, "stateNotSaved"), (.checkpointNotSaved, "checkpointNotSaved"),
        (.replacementFailed, "replacementFailed"), (.firstRunFailed, "firstRunFailed"),
        (.unusableDirectory, "unusableDirectory"),
    ]

    @Test(arguments: names) func `each code has its name`(code: MigrationError.Code, name: String) {
        #expect(code.description == name)
    }

    @Test func `codes are equal to themselves only`() {
        #expect(Set(Self.names.map(\.0)).count == Self.names.count)
    }

    @Test func `a module that builds on this one has codes of its own`() {
        let code = MigrationError.Code("leaseLost")
        #expect(code.description == "leaseLost")
        #expect(code == MigrationError.Code("leaseLost"))
        #expect(!Self.names.map(\.0).contains(code))
    }
}

import Testing

@testable import AppMigrations

struct MigrationErrorTests {
    static let location = StateLocation(name: "Library", directory: "/d")
    static let full = SystemCallError(call: "write", errorNumber: 28)
    static let state = "The state of manager \"Library\" (/d/Library.migrations.json)"
    private static let grammar =
        "A version is numbers divided by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2."

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

    private static func release() throws -> AppRelease {
        try AppRelease(version("1.4"), upgradesFrom: nil, location)
    }

    private static func refusal(
        _ declared: String,
        after previous: String = "0",
        begun newer: String? = nil,
        deaths: Int = 0
    ) -> MigrationError {
        let attempts = [AttemptedMigration(newer ?? declared, deaths, deaths: deaths, by: newer ?? "1.4")]
        let marks = StateMarks(launched: version("1.4"), attempted: attempts)
        let initialMarks = StateMarks(launched: version("1.4"))
        let pending = Declarations.Declaration(version: version(declared), minimumAppVersion: .zero)
        return thrown {
            try Declarations(initialMarks, release()).decide(
                pending,
                marks,
                after: version(previous),
                limit: 3
            )
        }
    }

    private static let declaring: [Row] = [
        Row(
            .invalidVersion,
            thrown { try AppVersion("v1", manager: "Library") },
            "The version \"v1\" can't be read: a digit is missing at character 1. \(grammar) "
                + "Nothing was run by manager \"Library\"."
        ),
        Row(
            .newerThanCurrentVersion,
            refusal("1.5"),
            "Version 1.5 is newer than the app (1.4) in manager \"Library\" (/d/Library.migrations.json). "
                + "Raise the app's version or remove the migration. It was not run."
        ),
        Row(
            .newerThanCurrentVersion,
            thrown { try release().mark("1.5") },
            "The version 1.5 of reset(to:) in manager \"Library\" (/d/Library.migrations.json) is newer than the app (1.4). "
                + "Nothing was run or changed. Pass the version that the data is at. Where the data is a newer app's, start that one."
        ),
        Row(
            .declaredOutOfOrder,
            refusal("1.1", after: "1.2"),
            "Migration 1.1 is declared after 1.2 and doesn't lie after it, in manager \"Library\" "
                + "(/d/Library.migrations.json). Declare each version once, in rising order. It was not run."
        ),
        Row(
            .declaredOutOfOrder,
            refusal("0"),
            "Version 0 is the mark of a state in which nothing ran, and can't be a migration's, in manager \"Library\" "
                + "(/d/Library.migrations.json). Declare each version once, in rising order. It was not run."
        ),
        Row(
            .nested,
            .nested(location, version("1.2")),
            "A manager of the state /d/Library.migrations.json was used while a closure, or the plan, of manager "
                + "\"Library\" with the same state was under way: it would wait for itself. "
                + "Nothing was run by this call. In a plan, use the manager that is handed in; elsewhere declare "
                + "the version beside the other, not inside it, and await it in asynchronous code."
        ),
        Row(
            .usedByNewerApp,
            refusal("1.4", begun: "1.5"),
            "Migration 1.4 of manager \"Library\" (/d/Library.migrations.json) was not run: version 1.5 of the app has begun to "
                + "change the data, and this app is version 1.4. This call changed nothing. Start version 1.5 or a later one. If "
                + "the data is still as version 0 left it, call reset(to: \"0\"), and everything after it is pending again."
        ),
        Row(
            .managerClosed,
            .managerClosed(nil, by: .gone(location), in: location),
            "Nothing was run: manager \"Library\" has been closed since an earlier failure. Mend that and make a new "
                + "manager. The first failure: \(state) was there when the manager was made and is gone. Nothing was run or "
                + "written. Make a new manager; it will be a first run."
        ),
    ]

    private static let running: [Row] = [
        Row(
            .migrationFailed,
            .failed(version("1.2"), attempt: 3, Failure(), location, consequence: " The end."),
            "Migration 1.2 of manager \"Library\" failed in attempt 3: The disk is full. It is not recorded in "
                + "/d/Library.migrations.json and runs again with the next manager. The end."
        ),
        Row(
            .migrationFailed,
            .failed(version("1.2"), attempt: 1, full, location, consequence: ""),
            "Migration 1.2 of manager \"Library\" failed in attempt 1: No space left on device (write, errno 28). It is "
                + "not recorded in /d/Library.migrations.json and runs again with the next manager."
        ),
        Row(
            .cancelled,
            .failed(version("1.2"), attempt: 1, CancellationError(), location, consequence: ""),
            "Migration 1.2 of manager \"Library\" was cancelled in attempt 1. It is not recorded in "
                + "/d/Library.migrations.json and runs again with the next manager."
        ),
        Row(
            .cancelled,
            .failed(
                version("1.2"),
                attempt: 1,
                location.cancelledAtCheckpoint(version("1.2")),
                location,
                consequence: ""
            ),
            "Migration 1.2 of manager \"Library\" was cancelled in attempt 1. The task of migration 1.2 of manager \"Library\" "
                + "was cancelled. Its checkpoint is saved in /d/Library.migrations.json, and the next attempt goes on there. It "
                + "is not recorded in /d/Library.migrations.json and runs again with the next manager."
        ),
        Row(
            .attemptLimitReached,
            refusal("1.2", deaths: 3),
            "Migration 1.2 of manager \"Library\" was not run: 3 processes of this app version died in it, as many as "
                + "attemptLimit allows. The state /d/Library.migrations.json is unchanged. Offer a way to recover; "
                + "resetAttempts() lets the next manager try again, and so does a new app version, reset(to:) or a higher "
                + "limit."
        ),
        Row(
            .firstRunFailed,
            .firstRunFailed(Failure(description: "What now?"), location),
            "The firstRun: expression of manager \"Library\" failed: What now? No state was written to "
                + "/d/Library.migrations.json and nothing was run; the next manager asks again."
        ),
    ]

    @Test(arguments: declaring + running + reading + places)
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
        (.cancelled, "cancelled"), (.leaseLost, "leaseLost"), (.attemptLimitReached, "attemptLimitReached"),
        (.lockTimeout, "lockTimeout"), (.stateUnreadable, "stateUnreadable"),
        (.stateCorrupted, "stateCorrupted"), (.stateFromNewerFormat, "stateFromNewerFormat"),
        (.stateNotSaved, "stateNotSaved"), (.checkpointNotSaved, "checkpointNotSaved"),
        (.protectionFailed, "protectionFailed"), (.firstRunFailed, "firstRunFailed"),
    ]

    @Test(arguments: names) func `each code has its name`(code: MigrationError.Code, name: String) {
        #expect(code.description == name)
    }

    @Test func `codes are equal to themselves only`() {
        #expect(Set(Self.names.map(\.0)).count == Self.names.count)
    }
}

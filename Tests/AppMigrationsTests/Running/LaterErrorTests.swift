import Foundation
import Testing

@testable import AppMigrations

/// The errors that can follow a migration which ran: each speaks of its own call, and none says that nothing was run.
@Suite(.temporaryDirectory) struct LaterErrorTests {
    let folder = TemporaryDirectory.current

    /// A call that fails after migration 1.2 ran, and what its error says of the manager `M`.
    struct Row: CustomTestStringConvertible, Sendable {
        let code: MigrationError.Code
        let text: String
        let call: @Sendable (MigrationManager, TemporaryDirectory) throws -> Void

        init(
            _ code: MigrationError.Code,
            _ text: String,
            _ call: @escaping @Sendable (MigrationManager, TemporaryDirectory) throws -> Void
        ) {
            self.code = code
            self.text = text
            self.call = call
        }

        var testDescription: String { "\(code): \(text.prefix(70))" }
    }

    private static let grammar =
        "A version consists of numbers separated by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2. A beta has the"
        + " version of its release; what changes between two betas is 2.0-1, 2.0-2."
    private static let forgetState = "MigrationManager.forgetState(named:stateDirectory:lockTimeout:)"
    private static func state(_ members: String) -> String {
        #"{ "format": 1, "name": "Library", "lastRunVersion": "1.2", \#(members) "history": [] }"#
    }

    private static func declare(_ version: String, in manager: MigrationManager) throws {
        try manager.whenMigrating(toVersion: version) { Issue.record("The closure of \(version) ran.") }
    }

    /// Writes another state, as a user, another program or another process of the app does.
    private static func replacing(_ text: String)
        -> @Sendable (MigrationManager, TemporaryDirectory) throws -> Void
    {
        { manager, folder in
            try folder.write(text)
            try declare("1.3", in: manager)
        }
    }

    static let declarations: [Row] = [
        Row(
            .invalidVersion,
            "The version \"1.3x\" can't be read: character 4 is not allowed there. "
                + "It is declared in M. The migration was not run. \(grammar)"
        ) { manager, _ in try declare("1.3x", in: manager) },
        Row(
            .invalidVersion,
            "The version \"new\" can't be read: a digit is missing at character 1. It is the minimumAppVersion: of migration 1.3 "
                + "in M. Migration 1.3 was not run. \(grammar)"
        ) { manager, _ in
            try manager.whenMigrating(toVersion: "1.3", minimumAppVersion: "new") {}
        },
        Row(
            .declaredOutOfOrder,
            "The minimumAppVersion: 1.4 of migration 1.3 in M is above the migration's own version: the app that runs the "
                + "migration could not use the data. Migration 1.3 was not run. Pass at most 1.3 as minimumAppVersion:."
        ) { manager, _ in
            try manager.whenMigrating(toVersion: "1.3", minimumAppVersion: "1.4") {}
        },
        Row(
            .declaredOutOfOrder,
            "Migration 1.1 is declared after migration 1.2 in M, and is not above it. Migration 1.1 was not run. Declare each "
                + "version once, in rising order, and all above 0."
        ) { manager, _ in try declare("1.1", in: manager) },
        Row(
            .declaredOutOfOrder,
            "Migration 1.2.0 is declared after migration 1.2 in M. Both are the same version. Migration 1.2.0 was not run. "
                + "Declare each version once, in rising order, and all above 0."
        ) { manager, _ in try declare("1.2.0", in: manager) },
        Row(
            .newerThanCurrentVersion,
            "Migration 1.5 of M is newer than the app (1.4). Migration 1.5 was not run. Raise the app's version or remove the "
                + "migration."
        ) { manager, _ in try declare("1.5", in: manager) },
        Row(
            .managerClosed,
            "Migration 1.4 was not run: M was closed because of an earlier failure. Fix that failure and create a new "
                + "manager. The first failure: Migration 1.3 of M failed in attempt 1: Refusal(). It is not recorded, and "
                + "runs again with the next manager."
        ) { manager, _ in
            _ = try manager.failure(of: "1.3", Refusal())
            try declare("1.4", in: manager)
        },
        Row(
            .nested,
            "This call would wait for itself. A closure, a plan or a declaration of M is running, and "
                + "the call was made inside it or at the same time. Migration 1.4 was not run. In a plan, use the manager that its closure gets. Elsewhere, "
                + "declare this version after the other declaration has returned, not inside its closure. In asynchronous code, "
                + "await each declaration."
        ) { manager, folder in
            let other = try folder.manager("1.4")
            try manager.whenMigrating(toVersion: "1.3") { () throws in
                let error = try other.refusal(of: "1.4")
                throw error
            }
        },
        Row(
            .readOnly,
            "Migration 1.3 is pending and was not run, because M was created with isReadOnly. Create a manager without "
                + "isReadOnly to run it. A read-only manager can still read the plan and the status."
        ) { _, folder in
            let reader = try folder.manager("1.4", options: .init(isReadOnly: true))
            try reader.declare("1.2")
            try declare("1.3", in: reader)
        },
    ]

    static let states: [Row] = [
        Row(
            .stateUnreadable,
            "The state of M existed when the manager was created, but it no longer exists. Migration 1.3 was not run. Create "
                + "a new manager, which begins with a first run."
        ) { manager, folder in
            try folder.remove("Library.migrations.json")
            try declare("1.3", in: manager)
        },
        Row(
            .stateCorrupted,
            "The state of M is damaged, or is not a state of this manager: expected an object with the member \"format\" at "
                + "byte 0. The state was left unchanged. Migration 1.3 was not run. Repair the file, or restore it from a "
                + "backup. If you can't, call \(forgetState), which moves the file aside. The next manager then begins with a first run.",
            replacing("{}")
        ),
        Row(
            .stateCorrupted,
            "The state of M is not a regular file, or is larger than 1 MiB. The state was left unchanged. Migration 1.3 was not "
                + "run. Put the state file itself at this path. A symbolic link isn't followed, because the next save would "
                + "replace it. If the state is lost, call \(forgetState), which moves aside whatever "
                + "is at this path. The next manager then begins with a first run."
        ) { manager, folder in
            try folder.remove("Library.migrations.json")
            try FileManager.default.createDirectory(
                atPath: folder.stateFile,
                withIntermediateDirectories: false
            )
            try declare("1.3", in: manager)
        },
        Row(
            .stateFromNewerFormat,
            "The state of M has format 2, but this release of the library reads only formats up to 1. Migration 1.3 was not "
                + "run. Use a newer release of the app.",
            replacing(#"{ "format": 2 }"#)
        ),
        Row(
            .usedByNewerApp,
            "Migration 1.3 of M was not run: version 1.5 of the app has begun to change the data, and this app is version 1.4. "
                + "Start version 1.5 or a later one. If the data is still as version 1.2 left it, call reset(to: \"1.2\"). "
                + "Every later version is then pending again.",
            replacing(state(died(in: "1.5", app: "1.5")))
        ),
        Row(
            .managerClosed,
            "Migration 1.3 was not run: the state of M was reset after this manager was created, so "
                + "versions that it declared before may be pending again. Create a new manager and declare every migration again.",
            replacing(state("").replacing("1.2", with: "1.1"))
        ),
        Row(
            .attemptLimitReached,
            "Migration 1.3 of M was not run: 1 process of this app version crashed in it, as many as attemptLimit allows. Offer a way "
                + "to recover: resetAttempts() lets the next manager try again, and so does a new app version, reset(to:) or a "
                + "higher limit.",
            replacing(state(died(in: "1.3")))
        ),
        Row(
            .tooOld,
            "The data of M is at version 0.9, and version 1.4 of the app only upgrades data from version 1.0 on. Migration 1.3 was not "
                + "run. First start an older release of the app that upgrades data from version 0.9.",
            replacing(state("").replacing("1.2", with: "0.9"))
        ),
    ]

    static let lockAndDisk: [Row] = [
        Row(
            .lockTimeout,
            "The M waited 0.005 seconds for the lock L, which process P holds. Migration 1.3 was not run. Wait "
                + "until that process has finished, and try again with a new manager."
        ) { manager, folder in
            let lock = try #require(
                try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: folder.path))
            )
            defer { lock.unlock() }
            try declare("1.3", in: manager)
        },
        Row(
            .stateNotSaved,
            "The lock L of M could not be taken: E. Migration 1.3 was not run. Make the "
                + "folder and the files in it writable for this process, and start the app again."
        ) { manager, folder in
            try folder.remove("Library.migrations.lock")
            try FileManager.default.createDirectory(
                atPath: folder.lockFile,
                withIntermediateDirectories: false
            )
            try declare("1.3", in: manager)
        },
        Row(
            .stateNotSaved,
            "The state of M could not be saved: E. The file has the old state. Migration 1.3 was "
                + "not run. Make room on the disk, or make the folder writable, and start the app again."
        ) { manager, folder in
            try FileManager.default.createDirectory(
                atPath: folder.obstacle,
                withIntermediateDirectories: false
            )
            try declare("1.3", in: manager)
        },
        Row(
            .stateNotSaved,
            "The state of M could not be saved: it would be larger than 1 MiB, even without the rows of its history. The file "
                + "has the old state. Migration 1.3 was not run. If the file has JSON members that "
                + "this library didn't write, remove them. Otherwise call \(forgetState), and answer firstRun: with existingData(at:) and the version of the "
                + "data."
        ) { manager, folder in
            let others = #""others": "\#(String(repeating: "x", count: StateFile.sizeLimit - 150))","#
            try replacing(state(others))(manager, folder)
        },
        Row(
            .stateNotSaved,
            "The state of M could not be saved: E. The file has the old state. Migration 1.3 ran "
                + "and will run again. The failed attempt could not be recorded in the state, so the next start counts it as a crash. Make room on the "
                + "disk, or make the folder writable, and start the app again."
        ) { manager, folder in
            try manager.whenMigrating(toVersion: "1.3") { () throws in
                try FileManager.default.createDirectory(
                    atPath: folder.obstacle,
                    withIntermediateDirectories: false
                )
            }
        },
        Row(
            .stateNotSaved,
            "The lock of M is lost: its file was removed or replaced. Since then, nothing was written to the state. "
                + "Migration 1.3 ran, but was not recorded. Never remove or replace L. Create a new manager, which reads the state "
                + "again."
        ) { manager, folder in
            try manager.whenMigrating(toVersion: "1.3") { () throws in
                try folder.remove("Library.migrations.lock")
            }
        },
    ]

    static let otherCalls: [Row] = [
        Row(
            .newerThanCurrentVersion,
            "Version 1.5, the version of reset(to:) in M, is newer than the app (1.4). lastRunVersion was not changed. Pass the "
                + "version that the data is at. If a newer app changed the data, start that app."
        ) { manager, _ in try manager.reset(to: "1.5") },
        Row(
            .invalidVersion,
            "The version \"\" can't be read: it is empty. It is the version of reset(to:) in M. lastRunVersion was not changed. "
                + "\(grammar) Pass the version that the data is at."
        ) { manager, _ in try manager.reset(to: "") },
        Row(
            .tooOld,
            "The data of M is at version 0.9, and version 1.4 of the app only upgrades data from version 1.0 on. lastRunVersion was not "
                + "changed. First start an older release of the app that upgrades data from version 0.9."
        ) { manager, _ in try manager.reset(to: "0.9") },
        Row(
            .usedByNewerApp,
            "Only version 1.5 of the app or a later one may use the data of M, and this app is 1.4. lastRunVersion was not changed. "
                + "Start version 1.5 or a later one. If the data was replaced with older data, call forgetState, and answer firstRun: "
                + "with existingData(at:) and the version of that data."
        ) { manager, folder in
            try folder.write(state(#""minimumAppVersion": "1.5","#))
            try manager.reset(to: "1.1")
        },
        Row(
            .stateUnreadable,
            "The state of M existed when the manager was created, but it no longer exists. The counts of crashes were not "
                + "changed. Create a new manager, which begins with a first run."
        ) { manager, folder in
            try folder.remove("Library.migrations.json")
            try manager.resetAttempts()
        },
        Row(
            .readOnly,
            "The M was created with isReadOnly, so it can't change the state. The counts of crashes were not changed. Create "
                + "a manager without isReadOnly for this call."
        ) { _, folder in try folder.manager("1.4", options: .init(isReadOnly: true)).resetAttempts() },
        Row(
            .invalidName,
            "The manager's name \".b\" can't be used. A name may contain A-Z, a-z, 0-9, dots, hyphens and underscores. It "
                + "must not be empty, begin with a dot or be longer than 200 characters. The state was not moved. Pass "
                + "another name."
        ) { _, folder in
            _ = try MigrationManager.forgetState(named: ".b", stateDirectory: folder.path)
        },
        Row(
            .stateFromNewerFormat,
            "The state of M has format 2, but this release of the library reads only formats up to 1. Use a newer release of "
                + "the app."
        ) { manager, folder in
            try folder.write(#"{ "format": 2 }"#)
            _ = try manager.status
        },
    ]

    @Test(arguments: declarations + states + lockAndDisk + otherCalls)
    func `an error after a migration that ran says what its own call didn't change`(row: Row) throws {
        let options = MigrationManager.Options(
            lockTimeout: .milliseconds(5),
            attemptLimit: 1,
            upgradesFrom: "1.0"
        )
        let manager = try folder.manager("1.4", firstRun: .existingData(at: "1.1"), options: options)
        try #require(try manager.declare("1.2") == ["1.2"])
        var error = try #require(throws: MigrationError.self) { try row.call(manager, folder) }
        if row.code == .nested, let cause = error.underlyingError as? MigrationError { error = cause }
        #expect(error.code == row.code)
        let text = error.description
            .replacing("manager \"Library\" (\(folder.stateFile))", with: "M")
            .replacing(folder.lockFile, with: "L")
            .replacing("process \(getpid())", with: "process P")
            .replacing(/(\/\S+: )?[A-Z][a-z ]+ \(\w+, errno \d+\)/, with: "E")
        #expect(text == row.text)
        #expect(!text.contains("Nothing was run"))
    }

    @Test func `a task that is cancelled says which migration it didn't run`() async throws {
        let manager = try folder.manager("1.4", firstRun: .existingData(at: "1.1"))
        try #require(try manager.declare("1.2") == ["1.2"])
        let task = Task { () throws -> MigrationError in
            withUnsafeCurrentTask { $0?.cancel() }
            return try manager.refusal(of: "1.3")
        }
        let error = try await task.value
        #expect(error.code == .cancelled)
        #expect(
            error.description
                == "The task was cancelled while manager \"Library\" (\(folder.stateFile)) was about to run migration 1.3. "
                + "Migration 1.3 was not run. Create a new manager to try again."
        )
    }

    @Test func `a refused row of a plan says which migration would not run`() throws {
        let manager = try folder.manager("1.4", firstRun: .existingData(at: "1.1"))
        try #require(try manager.declare("1.2") == ["1.2"])
        let rows = try manager.plan { try $0.declare("1.2", "1.5") }
        #expect(
            rows.last?.description
                == "1.5 refused: Migration 1.5 of manager \"Library\" (\(folder.stateFile)) is newer than the app (1.4). "
                + "Migration 1.5 was not run. Raise the app's version or remove the migration."
        )
    }
}

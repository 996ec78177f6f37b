import AppMigrations
import AppMigrationsSQL
import Testing

@testable import AppMigrationsFleet

/// The errors of a fleet that can follow a migration which ran: each speaks of its own call.
@Suite struct FleetLaterErrorTests {
    let fleet = Fleet()

    /// A call that fails after migration 1.1 ran, and what its error says of the manager `M`.
    struct Row: CustomTestStringConvertible, Sendable {
        let code: MigrationError.Code
        let text: String
        let call: @Sendable (FleetMigrationManager, Fleet) async throws -> Void

        init(
            _ code: MigrationError.Code,
            _ text: String,
            _ call: @escaping @Sendable (FleetMigrationManager, Fleet) async throws -> Void
        ) {
            self.code = code
            self.text = text
            self.call = call
        }

        var testDescription: String { "\(code): \(text.prefix(70))" }
    }

    private static func declare(_ version: String, in manager: FleetMigrationManager) async throws {
        try await manager.whenMigrating(toVersion: version) { Issue.record("The closure of \(version) ran.") }
    }

    static let rows: [Row] = [
        Row(
            .newerThanCurrentVersion,
            "Migration 1.5 of M is newer than the app (1.4). Migration 1.5 was not run. Raise the app's version or remove the "
                + "migration."
        ) { manager, _ in try await declare("1.5", in: manager) },
        Row(
            .stateUnreadable,
            "The state of M could not be read: the network is gone. Migration 1.2 was not run. Try again when the store can be "
                + "reached."
        ) { manager, fleet in
            fleet.store.onRead { _ in .fails }
            try await declare("1.2", in: manager)
        },
        Row(
            .stateNotSaved,
            "The state of M could not be saved: the network is gone. The store has the old state. Migration 1.2 was not run. Try "
                + "again when the store can be reached."
        ) { manager, fleet in
            fleet.store.onWrite { _, _ in .fails }
            try await declare("1.2", in: manager)
        },
        Row(
            .stateCorrupted,
            "The state of M is damaged, or is not a state of this manager: expected an object with the member \"format\" at "
                + "byte 0. The state was left unchanged. Migration 1.2 was not run. Repair the document, or "
                + "restore it from a backup. If you can't, remove the document. The next manager then begins with a first run."
        ) { manager, fleet in
            try await fleet.store.put("{}")
            try await declare("1.2", in: manager)
        },
        Row(
            .migrationFailed,
            "Migration 1.2 of M failed in attempt 1: the network is gone. It is not recorded, and runs again with the next manager."
        ) { manager, _ in
            try await manager.whenMigrating(toVersion: "1.2") { throw TestStore.Failure() }
        },
        Row(
            .newerThanCurrentVersion,
            "Version 1.5, the version of reset(to:) in M, is newer than the app (1.4). lastRunVersion was not changed. Pass the "
                + "version that the data is at. If a newer app changed the data, start that app."
        ) { manager, _ in try await manager.reset(to: "1.5") },
        Row(
            .stateUnreadable,
            "The state of M could not be read: the network is gone. The counts of crashes were not changed. Try again when the "
                + "store can be reached."
        ) { manager, fleet in
            fleet.store.onRead { _ in .fails }
            try await manager.resetAttempts()
        },
        Row(
            .stateUnreadable,
            "The state of M could not be read: the network is gone. Try again when the store can be reached."
        ) { manager, fleet in
            fleet.store.onRead { _ in .fails }
            _ = try await manager.status
        },
    ]

    @Test(arguments: rows)
    func `an error after a migration that ran says what its own call didn't change`(row: Row) async throws {
        let manager = try await fleet.host()
        try #require(try await manager.whenMigrating(toVersion: "1.1") {})
        let error = try #require(await fleet.error { try await row.call(manager, fleet) })
        #expect(error.code == row.code)
        let text = error.description.replacing(
            "manager \"Data\" (document \"Data\" in the fleet's store)",
            with: "M"
        )
        #expect(text == row.text)
        #expect(!text.contains("Nothing was run"))
    }

    private static let location = StateLocation(name: "Data", directory: "", store: "the fleet's store")

    /// An error of a server that says why, or of a client that could not ask it.
    private static func failure(_ state: String?) -> SQLError {
        let report = ServerError(message: "no", sqlState: state)
        return SQLError.wrapped(TestStore.Failure(), as: .statementFailed, server: report)
    }

    @Test(
        arguments: [
            ("55P03", true), ("40001", true), ("40P01", true), ("53100", true), ("53300", true),
            ("57P01", true), ("57P03", true),
            ("08006", true), (nil, true), ("57014", false), ("25P03", false), ("42501", false),
            ("25006", false), ("42P01", false),
            ("23505", false),
        ] as [(String?, Bool)]
    )
    func `what may pass is told by the SQLSTATE, or by a client that reached no server`(
        state: String?,
        isTransient: Bool
    ) {
        let failure = Self.failure(state)
        #expect(Self.location.unreadable(failure).isTransient == isTransient)
        #expect(Self.location.notSaved(failure, nil, "").isTransient == isTransient)
        #expect(FleetAttempt.isTransient(failure) == isTransient)
    }

    @Test
    func `a pooler that refuses transactions stays like that, and one that has lost its server doesn't`() {
        func failure(_ message: String) -> SQLError {
            let report = ServerError(message: message, sqlState: "08P01")
            return SQLError.wrapped(TestStore.Failure(), as: .statementFailed, server: report)
        }
        #expect(failure("server conn crashed?").isTransient)
        #expect(!failure("transaction blocks not allowed in statement pooling mode").isTransient)
    }

    @Test func `a transaction that ended may pass if what ended it may`() {
        #expect(SQLError.endedTransaction(after: Self.failure("57P01")).isTransient)
        #expect(SQLError.endedTransaction(after: Self.failure(nil)).isTransient)
        #expect(!SQLError.endedTransaction(after: Self.failure("3B001")).isTransient)
        #expect(!SQLError.endedTransaction().isTransient)
    }

    @Test
    func `a silent call may pass, and so may a store of another kind; an error of the app's own may not`() {
        #expect(Self.location.unreadable(Overdue(limit: .seconds(15))).isTransient)
        #expect(FleetAttempt.isTransient(Overdue(limit: .seconds(15))))
        #expect(Self.location.unreadable(TestStore.Failure()).isTransient)
        #expect(!FleetAttempt.isTransient(TestStore.Failure()))
        #expect(FleetAttempt.isTransient(MigrationError(code: .stateUnreadable, isTransient: true)))
        #expect(!FleetAttempt.isTransient(MigrationError(code: .checkpointNotSaved)))
        #expect(FleetAttempt.isTransient(SQLError(.closed, "The server has closed the connection")))
        #expect(!FleetAttempt.isTransient(SQLError.wrapped(TestStore.Failure(), as: .migrationFailed)))
    }
}

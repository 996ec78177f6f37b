import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Foundation
import Testing

@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct PostgresFleetStoreTests {
    let folder = TemporaryDirectory.current.path

    @Test func `it keeps every promise, over several connections`() async throws {
        let stores = (0..<3).map { _ in postgresStore(folder + "/data.sqlite") }
        let findings = await FleetStoreConformance(
            stores[0],
            others: Array(stores.dropFirst()),
            unreachable: PostgresFleetStore<PostgresStandIn> { throw PostgresStandIn.Gone() },
            writers: 6,
            rounds: 6
        ).findings()
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `hosts that make the table at once all succeed`() async throws {
        let stores = (0..<8).map { _ in postgresStore(folder + "/data.sqlite") }
        try await withThrowingTaskGroup(of: FleetRevision?.self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    try await store.replaceDocument(
                        named: "host \(number)",
                        ifRevision: nil,
                        with: [0x7B, 0x7D]
                    )
                }
            }
            for try await revision in group { #expect(revision != nil) }
        }
    }

    @Test func `a start with nothing pending is one statement`() async throws {
        let db = try PostgresStandIn(folder + "/data.sqlite")
        for statements in [nil, 1] as [Int?] {
            let before = db.statements.count
            let migrations = try await FleetMigrationManager(at: "1.1", on: PostgresFleetStore { db })
            try await migrations.whenMigrating(toVersion: "1.1") {}
            if let statements { #expect(db.statements.count == before + statements) }
        }
    }

    @Test func `a table of another tool is refused by its columns`() async throws {
        let db = try PostgresStandIn(folder + "/data.sqlite")
        try await db.query("CREATE TABLE app_migration_state (name TEXT PRIMARY KEY, state BLOB)")
        db.onStatement {
            if $0.hasPrefix("SELECT revision") { throw PostgresStandIn.Gone(state: "42703") } else { .works }
        }
        let store = PostgresFleetStore { db }
        for call in [
            { _ = try await store.document(named: "Data") },
            { _ = try await store.replaceDocument(named: "Data", ifRevision: nil, with: [0x7B]) },
        ] {
            let error = await #expect(throws: SQLError.self) { try await call() }
            #expect(error?.code == .statementFailed)
            #expect(
                error?.description.contains(
                    """
                    The table "app_migration_state" belongs to another tool: it has the columns name, state, and not name, revision \
                    and document. Nothing was written. Give the store another table (table:).
                    """
                ) == true,
                "\(error?.description ?? "")"
            )
        }
        #expect(try await db.query("SELECT count(*) FROM app_migration_state") == [[0]])
    }

    @Test(arguments: ["app_migration_state", "main.states", "the state's \"table\"", "SELECT"])
    func `the table can have any name`(_ table: String) async throws {
        let store = postgresStore(folder + "/data.sqlite", table: table)
        #expect(try await store.document(named: "Data") == nil)
        let made = try #require(
            try await store.replaceDocument(named: "Data", ifRevision: nil, with: [0x7B, 0x7D])
        )
        #expect(
            try await store.document(named: "Data") == FleetDocument(bytes: [0x7B, 0x7D], revision: made)
        )
    }

    @Test func `an error of the connection is no absence`() async throws {
        let db = try PostgresStandIn(folder + "/data.sqlite")
        let store = PostgresFleetStore { db }
        _ = try await store.replaceDocument(named: "Data", ifRevision: nil, with: [0x7B, 0x7D])
        db.onStatement { $0.hasPrefix("SELECT revision") ? .fails : .works }
        await #expect(throws: PostgresStandIn.Gone.self) { try await store.document(named: "Data") }
        #expect(
            await code {
                _ = try await FleetMigrationManager(at: "1.0", on: store)
            } == .stateUnreadable
        )
    }

    @Test func `a row that is removed by hand and made anew has another revision`() async throws {
        let db = try PostgresStandIn(folder + "/data.sqlite")
        let store = PostgresFleetStore { db }
        let first = try #require(
            try await store.replaceDocument(named: "Data", ifRevision: nil, with: [0x7B, 0x7D])
        )
        try await db.query("DELETE FROM app_migration_state")
        let second = try #require(
            try await store.replaceDocument(named: "Data", ifRevision: nil, with: [0x7B, 0x7D])
        )
        #expect(first != second)
        #expect(try await store.replaceDocument(named: "Data", ifRevision: first, with: [0x5B, 0x5D]) == nil)
    }

    @Test func `a document that is no text is refused, and nothing is written`() async throws {
        let store = postgresStore(folder + "/data.sqlite")
        for bytes in [[0xFF, 0xFE], [0x7B, 0x00, 0x7D]] as [[UInt8]] {
            await #expect(throws: SQLError.self) {
                try await store.replaceDocument(named: "Data", ifRevision: nil, with: bytes)
            }
        }
        #expect(try await store.document(named: "Data") == nil)
    }
}

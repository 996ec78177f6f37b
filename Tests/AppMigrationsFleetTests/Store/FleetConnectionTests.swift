import AppMigrations
import AppMigrationsFleet
import Testing

/// A store keeps its connection, replaces a lost one, and closes the last.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetConnectionTests {
    let path = TemporaryDirectory.current.file("data.sqlite")
    private let made = Connections()

    private final class Connections: Sendable {
        let all = Guarded<[PostgresStandIn]>([])
    }

    private var connections: [PostgresStandIn] { made.all.withLock { $0 } }

    private var store: PostgresFleetStore<PostgresStandIn> {
        PostgresFleetStore { [path, made] in
            let db = try PostgresStandIn(path)
            made.all.withLock { $0.append(db) }
            return db
        }
    }

    @Test func `one connection is kept, and a second call at once has one of its own`() async throws {
        let store = store
        for _ in 1...3 { #expect(try await store.document(named: "Data") == nil) }
        #expect(connections.count == 1 && !connections[0].isClosed)
        let began = Log()
        connections[0].onStatement { sql in
            if began.lines.isEmpty { began.add(sql) }
            return .hangs
        }
        let first = Call { try await store.document(named: "Data") }
        try await waitUntil { !began.lines.isEmpty || first.hasEnded }
        #expect(try await store.document(named: "Data") == nil)
        #expect(connections.count == 2)
        first.cancel()
        await #expect(throws: (any Error).self) { try await first.value }
        #expect(connections[0].isClosed && !connections[1].isClosed)
    }

    @Test func `a connection that ended with its server is replaced without a word`() async throws {
        let store = store
        #expect(try await store.replaceDocument(named: "Data", ifRevision: nil, with: [0x7B, 0x7D]) != nil)
        connections[0].onStatement { _ in .fails }
        #expect(try await store.document(named: "Data") != nil)
        #expect(connections.count == 2 && connections[0].isClosed)
    }

    @Test func `the connection is closed with the store`() async throws {
        do {
            let store = store
            #expect(try await store.document(named: "Data") == nil)
        }
        try await waitUntil { connections[0].isClosed }
        #expect(connections.count == 1)
    }
}

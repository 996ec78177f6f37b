import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Foundation
import Testing

/// Hosts that are killed, as processes on one database.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetDeathTests {
    let folder = TemporaryDirectory.current.path

    private static func count(_ db: PostgresStandIn) async throws -> [[SQLValue]] {
        try await db.query("SELECT count(*) FROM notes")
    }

    /// Declares 1.1 on another host, which lets its own time pass.
    private static func survive(
        _ db: PostgresStandIn,
        _ body: @escaping @Sendable (FleetMigrationManager) async throws -> Bool
    ) async throws -> Bool {
        let clock = ManualClock()
        let heir = try await FleetMigrationManager("heir", on: postgresStore(db.path), clock: clock)
        let call = Call { try await body(heir) }
        try await clock.pass { call.hasEnded }
        return try await call.value
    }

    @Test(arguments: ["closure", "commit"])
    func `a host that dies in its transaction leaves nothing, and its heir runs the closure once`(
        _ place: String
    ) async throws {
        let path = folder + "/data.sqlite"
        let db = try PostgresStandIn(path)
        try await db.query("CREATE TABLE notes (title TEXT)")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, place = place as String] in
            let db = try PostgresStandIn(path)
            if place == "commit" {
                db.onStatement { sql in
                    if sql == "COMMIT" { kill(getpid(), SIGKILL) }
                    return .works
                }
            }
            let manager = try await FleetMigrationManager("dead", on: postgresStore(db.path))
            try await manager.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                try await db.query("INSERT INTO notes VALUES ('dead')")
                if place == "closure" { kill(getpid(), SIGKILL) }
            }
        }
        #expect(try await Self.count(db) == [[0]])
        let ran = try await Self.survive(db) { heir in
            try await heir.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                try await db.query("INSERT INTO notes VALUES ('heir')")
            }
        }
        #expect(ran)
        #expect(try await Self.count(db) == [[1]])
    }

    @Test func `a host that dies in a closure leaves its checkpoint and its death`() async throws {
        let path = folder + "/data.sqlite"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let manager = try await FleetMigrationManager("dead", on: postgresStore(path))
            try await manager.whenMigrating(toVersion: "1.1") { context in
                try await context.saveCheckpoint(7)
                kill(getpid(), SIGKILL)
            }
        }
        let db = try PostgresStandIn(path)
        let seen = Log()
        let ran = try await Self.survive(db) { heir in
            try await heir.whenMigrating(toVersion: "1.1") { context in
                seen.add("\(context.attempt) \(context.fence) \(context.checkpoint ?? "")")
            }
        }
        #expect(ran)
        #expect(seen.lines == ["2 2 7"])
    }
}

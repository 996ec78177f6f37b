import AppMigrationsSQLite
import AppMigrationsTesting
import Foundation
import GRDB
import Testing

/// Migrations in GRDB's own words, rehearsed on connections that its queues lend.
@Suite struct RehearsalOnGRDBTests {
    private let migrations = [
        SQLMigration<Database>(version: 1, sql: "CREATE TABLE note(id INTEGER PRIMARY KEY)"),
        SQLMigration<Database>(version: 2, name: "title") { db, _ in
            try db.alter(table: "note") { $0.add(column: "title", .text) }
        },
    ]

    @Test func `a released schema becomes that of a new database`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            .path(percentEncoded: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
        let first = try SQLRehearsal(of: SQLMigrator(Array(migrations.prefix(1))), releasesIn: folder)
        try first.record("1.0", lending: { try DatabaseQueue().inDatabase($0) })
        let rehearsal = try SQLRehearsal(of: SQLMigrator(migrations), releasesIn: folder)
        let report = try rehearsal.run(lending: { try DatabaseQueue().inDatabase($0) })
        try report.requireClean()
        #expect(report.runs.map(\.ran) == [["1", "2"], ["2"]])
    }
}

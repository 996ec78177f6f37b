import AppMigrationsSQLite
package import Foundation
import Testing

/// A file that is not what it should be, and what a look at it must say.
package struct Wreck: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    package let expected: String
    package let make: @Sendable (String) throws -> Void

    package init(
        _ description: String,
        _ expected: String,
        _ make: @escaping @Sendable (String) throws -> Void
    ) {
        testDescription = description
        self.expected = expected
        self.make = make
    }

    package static let target =
        "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); CREATE INDEX by_body ON note(body)"

    /// A sound store, of some pages.
    package static func makeStore(_ path: String, journal: String = "delete") throws {
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        try db.query("PRAGMA page_size = 1024")
        try db.query("PRAGMA journal_mode = \(journal)")
        try db.execute(script: target)
        try db.query(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO note SELECT i, 'the body of note ' || i FROM n
            """
        )
    }

    /// A store whose schema is whole, and whose table has broken pages.
    package static func makeDamagedInside(_ path: String) throws {
        try makeStore(path)
        try damageLeaves(path)
    }

    /// Breaks the pages with the rows of tables, but the first page.
    package static func damageLeaves(_ path: String) throws {
        try change(path) { data in
            // The leaves of a table have this kind (Database File Format, section 1.6).
            for page in stride(from: 1_024, to: data.count, by: 1_024) where data[page] == 13 {
                data[page] = 0xFF
            }
        }
    }

    package static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    package static func change(_ path: String, _ body: (inout Data) -> Void) throws {
        var data = try bytes(path)
        body(&data)
        try data.write(to: URL(filePath: path))
    }
}

package import AppMigrationsSQLite
import Foundation
@_exported public import TestSupport
package import Testing

package func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
}

package func memory(foreignKeys: Bool = false) throws -> SQLiteConnection {
    let db = try SQLiteConnection(path: ":memory:")
    if foreignKeys { try db.query("PRAGMA foreign_keys = ON") }
    return db
}

package typealias Migration = SQLMigration<SQLiteConnection>
package typealias Migrator = SQLMigrator<SQLiteConnection>

/// The error that `body` throws.
package func sqlError<Value>(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> Value) throws
    -> SQLError
{
    try #require(throws: SQLError.self, sourceLocation: location) { _ = try body() }
}

/// A database in memory after a script, with foreign keys on unless said otherwise.
package func database(_ script: String, foreignKeys: Bool = true) throws -> SQLiteConnection {
    let db = try memory()
    try db.execute(script: script)
    if foreignKeys { try db.query("PRAGMA foreign_keys = ON") }
    return db
}

/// An error of a test's own, for what is to fail.
package struct Failure: Error {
    package init() {}
}

/// The names of the tables that migrations made.
package func tables(in db: SQLiteConnection) throws -> [String] {
    try db.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").compactMap {
        if case .text(let name) = $0[0], name != "schema_migrations" { name } else { nil }
    }
}

/// The versions in the ledger.
package func ledger(of db: SQLiteConnection) throws -> [Int64] {
    try db.query("SELECT version FROM schema_migrations ORDER BY version").compactMap {
        if case .integer(let version) = $0[0] { version } else { nil }
    }
}

extension SQLiteConnection {
    /// A second connection with this handle, as another library would lend it.
    package var borrowed: SQLiteConnection { SQLiteConnection(borrowing: handle) }
}

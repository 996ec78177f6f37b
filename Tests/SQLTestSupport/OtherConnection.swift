package import AppMigrationsSQLite

/// An SQLite connection of another library: its errors are of its own type, and a test acts before its statements.
package final class OtherConnection: SQLConnection {
    package static var dialect: SQLDialect { .sqlite }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// The report of a server, where a test wants one.
        package var server: ServerError?

        package init(description: String, server: ServerError? = nil) {
            self.description = description
            self.server = server
        }
    }

    package static func serverError(from error: any Error) -> ServerError? { (error as? Failure)?.server }

    package let db: SQLiteConnection
    /// Called with each statement before it runs; what it throws is the statement's error.
    package let before: (String) throws -> Void

    package init(_ db: SQLiteConnection, before: @escaping (String) throws -> Void = { _ in }) {
        self.db = db
        self.before = before
    }

    package func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        try before(sql)
        do { return try db.query(sql, arguments) } catch {
            throw Failure(description: "Fehler \(error.extendedResultCode ?? 0): \(error.message)")
        }
    }

    package func execute(script: String) throws {
        try before(script)
        do { try db.execute(script: script) } catch {
            throw Failure(description: "Fehler \(error.extendedResultCode ?? 0): \(error.message)")
        }
    }
}

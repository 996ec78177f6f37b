import AppMigrationsSQLite
import Foundation

/// An SQLite connection of another library: its errors are of its own type, and a test acts before its statements.
final class OtherConnection: SQLConnection {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// The report of a server, where a test wants one.
        var server: SQLErrorReport?
    }

    static func report(of error: any Error) -> SQLErrorReport? { (error as? Failure)?.server }

    let db: SQLiteConnection
    /// Called with each statement before it runs; what it throws is the statement's error.
    let before: (String) throws -> Void

    init(_ db: SQLiteConnection, before: @escaping (String) throws -> Void = { _ in }) {
        self.db = db
        self.before = before
    }

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        try before(sql)
        do { return try db.query(sql, arguments) } catch {
            throw Failure(description: "Fehler \(error.extendedResultCode ?? 0): \(error.message)")
        }
    }

    func execute(script: String) throws {
        try before(script)
        do { try db.execute(script: script) } catch {
            throw Failure(description: "Fehler \(error.extendedResultCode ?? 0): \(error.message)")
        }
    }
}

/// A connection whose process dies once so many statements that begin in one way are done.
final class DyingConnection: SQLConnection {
    private let db: SQLiteConnection
    private let statement: String
    private var left: Int

    init(_ db: SQLiteConnection, statement: String, after count: Int = 1) {
        self.db = db
        self.statement = statement
        left = count
    }

    @discardableResult
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        let rows = try db.query(sql, arguments)
        if sql.hasPrefix(statement) {
            left -= 1
            if left == 0 { kill(getpid(), SIGKILL) }
        }
        return rows
    }

    func execute(script: String) throws { try db.execute(script: script) }
}

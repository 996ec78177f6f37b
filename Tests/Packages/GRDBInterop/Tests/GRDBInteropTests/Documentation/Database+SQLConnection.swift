public import AppMigrationsSQLite
import Foundation
public import GRDB

/// What an app writes to migrate through GRDB's own connection.
extension Database: @retroactive SQLConnection {
    @discardableResult
    public func query(
        _ sql: String,
        _ arguments: [SQLValue]
    ) throws -> [[SQLValue]] {
        typealias Value = any DatabaseValueConvertible
        let values = arguments.map { value -> Value? in
            switch value {
            case .null: nil
            case .integer(let value): value
            case .real(let value): value
            case .text(let value): value
            case .blob(let value): Data(value)
            }
        }
        return try Row.fetchAll(
            self,
            sql: sql,
            arguments: StatementArguments(values)
        ).map { row in
            row.databaseValues.map { value in
                switch value.storage {
                case .null: .null
                case .int64(let value): .integer(value)
                case .double(let value): .real(value)
                case .string(let value): .text(value)
                case .blob(let value): .blob(Array(value))
                }
            }
        }
    }

    public func execute(script: String) throws {
        defer { clearSchemaCache() }
        guard let sqliteConnection else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE)
        }
        typealias Borrowed = AppMigrationsSQLite.SQLiteConnection
        let borrowed = Borrowed(borrowing: sqliteConnection)
        try borrowed.execute(script: script)
    }
}

/// GRDB's connection with GRDB's own way to run a script, which refuses nothing.
struct PlainDatabase: SQLConnection {
    let db: Database

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] { try db.query(sql, arguments) }
    func execute(script: String) throws { try db.execute(sql: script) }
}

/// How surely an SQLite database keeps what was committed last, when the power fails.
///
/// A state file outside of the database is on the disk when it says that a migration is done. The commit has
/// to be there before it: "WAL mode does lose durability. A transaction committed in WAL mode with
/// synchronous=NORMAL might roll back following a power loss", and with a rollback journal only "EXTRA
/// provides additional durability if the commit is followed closely by a power loss" (PRAGMA synchronous).
/// On Apple's systems a sync reaches the disk itself with PRAGMA fullfsync only.
enum SQLDurability {
    /// The pragmas and the least that each must be.
    private static let settings: [(name: String, least: Int64)] = [("synchronous", 3), ("fullfsync", 1)]

    /// Runs `body`, which begins a transaction, with commits that last, and sets the pragmas back.
    static func raised<Connection: SQLConnection, Value>(
        on db: Connection,
        _ body: () throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        guard Connection.dialect.isSQLite else { return try body() }
        var raised = [(name: String, before: Int64)]()
        let value: Value
        do throws(SQLError) {
            for (name, least) in settings {
                let before = try number(of: name, on: db)
                guard before < least else { continue }
                try set(name, to: least, on: db)
                raised.append((name, before))
            }
            value = try body()
        } catch {
            do throws(SQLError) {
                for (name, before) in raised { try set(name, to: before, on: db) }
            } catch let failure {
                throw error.adding(failure, of: "setting the pragmas back")
            }
            throw error
        }
        for (name, before) in raised { try set(name, to: before, on: db) }
        return value
    }

    private static func number(of pragma: String, on db: some SQLConnection) throws(SQLError) -> Int64 {
        let rows = try SQLError.wrapping { try db.query("PRAGMA \(pragma)") }
        guard case .integer(let number) = rows.first?.first else {
            throw SQLError(.statementFailed, "PRAGMA \(pragma) gave no number")
        }
        return number
    }

    private static func set(
        _ pragma: String,
        to number: Int64,
        on db: some SQLConnection
    ) throws(SQLError) {
        do throws(SQLError) {
            try SQLError.wrapping { try db.query("PRAGMA \(pragma) = \(number)") }
        } catch {
            guard try SQLDialect.sqlite.isInTransaction(db) else { throw error }
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }
}

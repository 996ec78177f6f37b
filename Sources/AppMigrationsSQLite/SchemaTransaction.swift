/// The transaction of a change of tables: foreign keys off, `legacy_alter_table` on, and both as they were
/// afterwards, whatever happens.
enum SchemaTransaction {
    /// Runs `body` in a transaction, or in a savepoint of the caller's.
    ///
    /// Where foreign keys were on, rows that refer to none and did not before are an error. In a transaction
    /// they must be off already, as they are in a migration: SQLite ignores the pragma there, and
    /// would delete the rows that refer to a table that is dropped.
    static func run<Connection: SQLConnection>(
        on db: Connection,
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) {
        guard Connection.dialect.isSQLite else {
            throw SQLError(
                .refusedSchemaChange,
                "Tables are rebuilt in SQLite only; PostgreSQL's ALTER TABLE needs none of it. Nothing was changed"
            )
        }
        if try Connection.dialect.isInTransaction(db) { return try inside(db, body) }
        try SQLForeignKeys.turnedOff(on: db) { checks throws(SQLError) in
            try withLegacyRenaming(db) { () throws(SQLError) in
                try Connection.dialect.begin(db, wait: .zero)
                do throws(SQLError) {
                    try checked(db, checks, body)
                    try db.rows("COMMIT")
                } catch {
                    throw Connection.dialect.rollingBack(db, after: error)
                }
            }
        }
    }

    private static func inside<Connection: SQLConnection>(
        _ db: Connection,
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) {
        if try db.number("PRAGMA foreign_keys") == 1 {
            throw SQLError(
                .refusedSchemaChange,
                "Foreign keys are on, and SQLite cannot turn them off inside a transaction: the rows that refer to"
                    + " a table would be deleted with it. Nothing was changed. Run it outside of the"
                    + " transaction, or in a migration, which turns them off before"
            )
        }
        try withLegacyRenaming(db) { () throws(SQLError) in
            try db.rows("SAVEPOINT app_migrations_schema")
            do throws(SQLError) {
                try body()
                try db.rows("RELEASE app_migrations_schema")
            } catch {
                // Where SQLite ended the transaction, the savepoint is gone with it.
                guard try Connection.dialect.isInTransaction(db) else { throw error }
                do throws(SQLError) {
                    try db.rows("ROLLBACK TO app_migrations_schema")
                    try db.rows("RELEASE app_migrations_schema")
                } catch let failure {
                    throw error.adding(failure, of: "the rollback")
                }
                throw error
            }
        }
    }

    private static func checked(
        _ db: some SQLConnection,
        _ checks: Bool,
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) {
        guard checks else { return try body() }
        let before = try SQLForeignKeys.orphans(in: db)
        try body()
        let after = try SQLForeignKeys.orphans(in: db)
        if let rows = after.excess(over: before) {
            throw SQLError(.foreignKeyViolation, "It leaves rows that refer to none: \(rows)")
        }
    }

    /// Runs `body` with renames that leave the texts of views, triggers and foreign keys alone.
    ///
    /// "PRAGMA legacy_alter_table=ON: the ALTER TABLE RENAME command works as it did in SQLite 3.24.0 and
    /// earlier"; with foreign keys off, references of other tables stay as they are, too.
    private static func withLegacyRenaming(
        _ db: some SQLConnection,
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) {
        let wasOn = try db.number("PRAGMA legacy_alter_table") == 1
        try setLegacyRenaming(true, on: db)
        do throws(SQLError) {
            try body()
        } catch {
            do throws(SQLError) {
                try setLegacyRenaming(wasOn, on: db)
            } catch let failure {
                throw error.adding(failure, of: "setting PRAGMA legacy_alter_table again")
            }
            throw error
        }
        try setLegacyRenaming(wasOn, on: db)
    }

    static func setLegacyRenaming(_ on: Bool, on db: some SQLConnection) throws(SQLError) {
        if let db = db as? SQLiteConnection { return db.setLegacyRenaming(on) }
        try db.rows("PRAGMA legacy_alter_table = \(on ? "ON" : "OFF")")
    }
}

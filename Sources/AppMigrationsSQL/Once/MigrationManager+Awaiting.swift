public import AppMigrations

extension MigrationManager {
    /// Runs an asynchronous closure in a transaction of a database, exactly once in the life of that database.
    ///
    /// It is the form for a connection that is awaited, of `whenMigrating(toVersion:in:run:)`, and what that says of parameters, rows,
    /// backups, errors and `reset(to:)` holds here. The closure runs on the caller's actor.
    ///
    /// The connection belongs to this call until it returns, which closes it (``AsyncSQLConnection/close()``): a pool lends one for
    /// the whole call. PostgreSQL ends the transaction of a closure that sends no statement for `lockTimeout`, and for at least
    /// 60 seconds. Where several hosts share the database and have a state file each, one runs the closure. Of a connection that is
    /// lost at the commit the next start finds out what became of it.
    @discardableResult
    public nonisolated(nonsending) func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        minimumAppVersion: String? = nil,
        in db: nonisolated(nonsending) @autoclosure () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        run: nonisolated(nonsending) (Connection) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await whenMigrating(
            toVersion: toVersion,
            minimumAppVersion: minimumAppVersion,
            in: try await db(),
            ledger: ledger,
            lockTimeout: lockTimeout
        ) { db, _ in try await run(db) }
    }

    /// Runs an asynchronous closure with its context in a transaction of a database, exactly once in the life of that
    /// database.
    ///
    /// Declares a closure that wants to know its attempt or report progress.
    @discardableResult
    public nonisolated(nonsending) func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        minimumAppVersion: String? = nil,
        in db: nonisolated(nonsending) @autoclosure () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        run: nonisolated(nonsending) (Connection, MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        var ran = false
        try await whenMigrating(toVersion: toVersion, minimumAppVersion: minimumAppVersion) { context in
            let db = try await SQLError.telling(Connection.self, db)
            let conversation = SQLConversation(nil)
            let table = table(ledger, Connection.dialect.session(conversation))
            try await conversation.run(closing: db) {
                try await run(db, context)
            } _: { () throws(SQLError) in
                ran = try table.runOnce(context.version, lockTimeout: lockTimeout)
            }
        }
        return ran
    }

    /// Sets the mark as `reset(to:)` does, and takes the rows above `version` out of the database.
    ///
    /// It is the form for a connection that is awaited, of `reset(to:in:ledger:lockTimeout:)`, with its parameters and errors.
    public nonisolated(nonsending) func reset<Connection: AsyncSQLConnection>(
        to version: String,
        in db: Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60)
    ) async throws {
        if let limit = try limit(ofReset: version) {
            try await AppMigrationsTable.remove(
                from: db,
                ledger: ledger,
                of: name,
                after: limit,
                lockTimeout: lockTimeout
            )
        }
        try reset(to: version)
    }
}

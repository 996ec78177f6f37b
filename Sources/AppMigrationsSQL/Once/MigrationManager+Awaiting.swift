public import AppMigrations

extension MigrationManager {
    /// Runs an asynchronous closure in a transaction of a database, exactly once in the life of that database.
    ///
    /// It is the form for a connection that is awaited, of `whenMigrating(toVersion:in:run:)`,
    /// and what that says of rows, backups and `reset(to:)` holds here. The closure runs on the caller's actor.
    ///
    /// The connection belongs to this call until it returns: a pool lends one for the whole call. Whatever else used the
    /// connection while the closure is suspended would be in its transaction.
    ///
    /// Where several hosts share the database and have a state file each, each of them asks the table, and one runs the
    /// closure. A connection that is lost at the commit says nothing of it: the next start finds the row, or runs the closure.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:run:)`; `1.4` and `1.4.0` are one row.
    ///   - minimumAppVersion: The oldest app that can still use the data, as in `whenMigrating(toVersion:minimumAppVersion:run:)`.
    ///   - db: A connection that is not in a transaction. The expression is evaluated only when the closure may have to
    ///     run: a start that has nothing to do, and a plan, open no connection. What it gives is closed by this call, also after
    ///     an error (``AsyncSQLConnection/close()``).
    ///   - ledger: The table that records what ran, for a database in which another program has one of that name.
    ///   - lockTimeout: How long to wait for another writer: longer than the longest migration. PostgreSQL ends the transaction
    ///     of a closure that sends no statement for so long, and for at least 60 seconds.
    ///   - run: What is to be done, with the connection. It must not end the transaction.
    /// - Returns: Whether the closure ran.
    /// - Throws: `MigrationError` as `whenMigrating(toVersion:run:)`; its `underlyingError` is what the closure threw, or an
    ///   ``SQLError``. Nothing of the closure is in the database then, unless the commit itself got no answer.
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
    /// The same as the form without the context, for a closure that wants to know its attempt or report progress.
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
    /// What `whenMigrating(toVersion:in:)` ran above that version runs again then, on a database that has its work already. For
    /// recovery and for tests, while no other process migrates. The rows go first: after a death in between, the call has to be
    /// made again.
    ///
    /// - Parameters:
    ///   - version: The version at which the data is.
    ///   - db: A connection that is not in a transaction.
    ///   - ledger: The table that records what ran, for a database in which another program has one of that name.
    ///   - lockTimeout: How long to wait for another writer.
    /// - Throws: ``SQLError`` of the database, and nothing was reset then; `MigrationError` as `reset(to:)`.
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

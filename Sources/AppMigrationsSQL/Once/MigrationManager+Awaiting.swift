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
        run: nonisolated(nonsending) (Connection, MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        var ran = false
        try await whenMigrating(toVersion: toVersion, minimumAppVersion: minimumAppVersion) { context in
            let db = try await SQLError.telling(Connection.self, db)
            let conversation = SQLConversation(nil)
            let table = table(ledger, Connection.dialect.session(conversation), lockTimeout)
            try await conversation.run(closing: db) {
                try await run(db, context)
            } _: { () throws(SQLError) in
                ran = try table.runOnce(context.version)
            }
        }
        return ran
    }

    /// Runs `batches` again and again on a connection that is awaited, each time in a transaction of its own, until it says that
    /// it is done: each batch exactly once in the life of the database.
    ///
    /// It is the form for a connection that is awaited, of `whenMigrating(toVersion:in:batches:)`, and what that says of parameters,
    /// cursors, checkpoints, errors and a cancelled task holds here. The closure runs on the caller's actor. Other hosts may run
    /// the same batches at once: each begins where the database stands. PostgreSQL ends a batch that sends no statement for
    /// `lockTimeout`, and for at least 60 seconds. The call closes the connection (``AsyncSQLConnection/close()``). Of a commit that got
    /// no answer the next start finds out what became of it.
    @discardableResult
    public nonisolated(nonsending) func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        minimumAppVersion: String? = nil,
        in db: nonisolated(nonsending) @autoclosure () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        batches:
            nonisolated(nonsending) (Connection, MigrationBatch, MigrationContext) async throws ->
            MigrationBatch.Outcome
    ) async throws(MigrationError) -> Bool {
        var ran = false
        try await whenMigrating(toVersion: toVersion, minimumAppVersion: minimumAppVersion) { context in
            let db = try await SQLError.telling(Connection.self, db)
            ran = try await BatchRun.run(
                closing: db,
                ledger: ledger,
                of: name,
                context.version,
                from: context.checkpoint,
                lockTimeout: lockTimeout,
                telling: { try context.reach($0) }
            ) { batch in
                let outcome = try await batches(db, batch, context)
                context.reach(.beforeCommit)
                return outcome
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

public import AppMigrations

extension MigrationManager {
    /// Runs `batches` again and again on a connection that is awaited, each time in a transaction of its own, until it says that
    /// it is done: each batch exactly once in the life of the database.
    ///
    /// It is the form for a connection that is awaited, of `whenMigrating(toVersion:in:batches:)`, and what that says of cursors,
    /// checkpoints and a cancelled task holds here. The closure runs on the caller's actor, and the connection belongs to this
    /// call until it returns.
    ///
    /// Between two batches other hosts can read and write, also one that runs the same batches: a batch begins where the
    /// database stands.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:run:)`; `1.4` and `1.4.0` are one row.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun.
    ///   - db: A connection that is not in a transaction. The expression is evaluated only when there may be batches to run, and
    ///     what it gives is closed by this call (``AsyncSQLConnection/close()``).
    ///   - ledger: The table that records what ran, for a database in which another program has one of that name.
    ///   - lockTimeout: How long each batch waits for another writer. PostgreSQL ends a batch that sends no statement for so long,
    ///     and for at least 60 seconds.
    ///   - batches: Does one batch, with the connection, the cursor of the batch before it, and the migration's context. It
    ///     must not end the transaction.
    /// - Returns: Whether a batch ran.
    /// - Throws: `MigrationError` as `whenMigrating(toVersion:run:)`; its `underlyingError` is what the closure threw, or an
    ///   ``SQLError``. The batches before stay, nothing of this one is in the database then, unless the commit itself got no
    ///   answer: the next start goes on where the database stands.
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
            ) {
                try await batches(db, $0, context)
            }
        }
        return ran
    }
}

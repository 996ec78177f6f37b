public import AppMigrations

extension MigrationManager {
    /// Runs `batches` again and again, each time in a transaction of its own, until it says that it is done: each batch
    /// exactly once in the life of the database.
    ///
    /// It is for work that takes longer than a launch may. The transaction of a batch also writes the cursor at which the
    /// batch ended, into the table `app_migrations`. A process that dies loses the batch under way and no other: the next
    /// start goes on at the cursor.
    ///
    /// ```swift
    /// try migrations.whenMigrating(
    ///     toVersion: "2.0",
    ///     in: db
    /// ) { db, batch, context in
    ///     let last = try batch.cursor(as: Int64.self) ?? 0
    ///     let next = try foldTitles(of: 500, after: last, in: db)
    ///     return next.map { .continue(at: $0) } ?? .done
    /// }
    /// ```
    ///
    /// Between two batches other connections can read and write, also another process that runs the same batches from
    /// a state of its own: a batch begins where the database stands. A cancelled task ends there with `cancelled`, and a
    /// cancelled statement as well. That is no failure, and the next start goes on.
    ///
    /// Foreign keys stay as the connection has them, since looking for rows that refer to none would read the whole
    /// database after each batch. What rebuilds tables belongs into a migration before it, with `run:`. The last commit
    /// is on the disk before the record is, and with it all others.
    ///
    /// The work belongs into the connection's main database, where the cursor is: in WAL mode SQLite commits each attached file
    /// for itself.
    ///
    /// The state file is asked first. Once it has the version, nobody looks at the database and its cursor, also where a
    /// backup of an earlier version was put in its place: call `reset(to:)` after restoring. Before that the cursor in the
    /// database is the one that counts. The state file gets it as a checkpoint after the first batch of each attempt and
    /// after each tenth of the progress, so that `attemptLimit` counts deaths from there, and a plan knows how far the work is.
    /// The closure saves no checkpoints of its own. What `whenMigrating(toVersion:in:run:)` says of the state file, of renamed
    /// managers and of `reset(to:)` holds here as well.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:run:)`; `1.4` and `1.4.0` are one row.
    ///   - outOfOrder: True if the version also runs below the last-run version, once, as in
    ///     `whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)`.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun, as in
    ///     `whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)`.
    ///   - db: A connection that is not in a transaction. The expression is evaluated only when there may be batches to
    ///     run: a start that has nothing to do, and a plan, open no database.
    ///   - ledger: The table that records what ran, for a database in which another program has one of that name.
    ///   - lockTimeout: How long each batch waits for another writer.
    ///   - batches: Does one batch, with the connection, the cursor of the batch before it, and the migration's context. It
    ///     must not end the transaction.
    /// - Returns: True if a batch ran.
    /// - Throws: `MigrationError` as `whenMigrating(toVersion:run:)`; its `underlyingError` is what the closure threw, or an
    ///   ``SQLError``: ``SQLError/Code/invalidCursor`` for a cursor that is the one before it or too long,
    ///   ``SQLError/Code/busy``, ``SQLError/Code/alreadyInTransaction``, ``SQLError/Code/transactionEnded``,
    ///   ``SQLError/Code/ledgerUnreadable``, ``SQLError/Code/foreignLedger``, or what the commit failed with. The batches before stay, nothing of this
    ///   one is in the database then.
    @discardableResult
    public func whenMigrating<Connection: SQLConnection>(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        in db: @autoclosure () throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        batches: (Connection, MigrationBatch, MigrationContext) throws -> MigrationBatch.Outcome
    ) throws(MigrationError) -> Bool {
        var ran = false
        try whenMigrating(
            toVersion: toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { context in
            let db = try db()
            let table = table(ledger, Connection.dialect.session(SQLConversation(db)), lockTimeout)
            let run = BatchRun(table, context.version)
            defer { ran = run.hasRun }
            do throws(SQLError) {
                try table.session.db.run {
                    switch run.question {
                    case .batch(let batch):
                        run.outcome = try batches(db, batch, context)
                        context.reachRehearsalPoint(.beforeCommit)
                    case .place(let place): try context.reach(place)
                    }
                } _: { () throws(SQLError) in
                    try run.run(from: context.checkpoint)
                }
            } catch { throw table.session.db.cause(of: error) }
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
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        in db: nonisolated(nonsending) @autoclosure () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        batches:
            nonisolated(nonsending) (Connection, MigrationBatch, MigrationContext) async throws ->
            MigrationBatch.Outcome
    ) async throws(MigrationError) -> Bool {
        var ran = false
        try await whenMigrating(
            toVersion: toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { context in
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
                context.reachRehearsalPoint(.beforeCommit)
                return outcome
            }
        }
        return ran
    }
}

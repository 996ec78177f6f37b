public import AppMigrations

extension MigrationManager {
    /// Runs a long migration in batches: calls `batches` again and again, each time in a transaction of its
    /// own, until it returns `done`.
    ///
    /// Each batch is committed exactly once in the life of the database.
    ///
    /// It is for work that takes longer than a launch may take. The transaction of a batch also writes the
    /// cursor at which the batch ended, into the table `app_migrations`. If the process crashes, only the
    /// current batch is lost. The next start continues at the cursor.
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
    /// Between two batches, other connections can read and write. Another process with its own state may even
    /// run the same batches: each batch begins at the cursor in the database. If the task is cancelled, the
    /// call ends between two batches or in a statement, and throws `cancelled`. That isn't counted as a
    /// failure, and the next start continues.
    ///
    /// Foreign keys stay as the connection has them, because checking for rows that refer to missing rows
    /// would read the whole database after each batch. If tables must be rebuilt, do that in a migration
    /// before this one, with `run:`. The last commit and all before it are on the disk before the state file
    /// records the version.
    ///
    /// Only write to the connection's main database, which has the cursor. In WAL mode, SQLite commits each
    /// attached file separately, so a crash could save the cursor without the batch's work in an attached
    /// file.
    ///
    /// The state file is read first. If it has the version, the database and its cursor aren't read, even if
    /// the database was replaced by a backup of an earlier version. So call `reset(to:)` after restoring. If
    /// the state file doesn't have the version, the cursor in the database decides where the batches
    /// continue. It is also saved in the state file as a checkpoint, after the first batch of each attempt
    /// and after each tenth of the progress. So `attemptLimit` counts crashes since that checkpoint, and a
    /// plan knows the progress. The closure must not save checkpoints itself.
    ///
    /// If the cursor says that all batches have ended, as after a `reset(to:)` of the state alone, none runs:
    /// the version is only recorded, the event `finished` has a note, and the call returns false.
    ///
    /// Everything that `whenMigrating(toVersion:in:run:)` says about the state file, renamed managers and
    /// `reset(to:)` also applies here.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:run:)`; `1.4` and `1.4.0` are one row.
    ///   - addedIn: The first release of the main line that has this migration, if a hotfix brought it, as in
    ///     `whenMigrating(toVersion:addedIn:minimumAppVersion:run:)`.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun, as in
    ///     `whenMigrating(toVersion:addedIn:minimumAppVersion:run:)`.
    ///   - db: A connection that is not in a transaction. The expression is evaluated only when there may be
    ///     batches to run. A start that has nothing to do doesn't open the database, and neither does a plan.
    ///   - ledger: The table that records the batches. Change it if another program has a table of the
    ///     default name.
    ///   - lockTimeout: How long each batch waits for another writer.
    ///   - batches: Does one batch, with the connection, the cursor of the batch before it, and the
    ///     migration's context. It must not end the transaction.
    /// - Returns: True if a batch ran.
    /// - Throws: The same `MigrationError` as `whenMigrating(toVersion:run:)`. Its `underlyingError` is the
    ///   closure's error, or an ``SQLError``: ``SQLError/Code/invalidCursor`` for a cursor that is too long
    ///   or equal to the one before it, ``SQLError/Code/busy``, ``SQLError/Code/alreadyInTransaction``,
    ///   ``SQLError/Code/transactionEnded``, ``SQLError/Code/ledgerUnreadable``,
    ///   ``SQLError/Code/foreignLedger``, or the error of the commit. Earlier batches stay in the database,
    ///   and the current one is rolled back.
    @discardableResult
    public func whenMigrating<Connection: SQLConnection>(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        in db: @autoclosure () throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        batches: (Connection, MigrationBatch, MigrationContext) throws -> MigrationBatch.Outcome
    ) throws(MigrationError) -> Bool {
        var ran = false
        try whenMigrating(
            toVersion: toVersion,
            addedIn: addedIn,
            minimumAppVersion: minimumAppVersion
        ) { context in
            let db = try db()
            let table = table(
                named: ledger,
                in: Connection.dialect.makeSession(SQLConversation(db)),
                lockTimeout: lockTimeout
            )
            let run = BatchRun(of: context.version, in: table)
            defer { ran = run.hasRun }
            do throws(SQLError) {
                try table.session.db.run {
                    switch run.request {
                    case .batch(let batch):
                        run.outcome = try batches(db, batch, context)
                        context.observe(.beforeCommit)
                    case .record(let reached): try context.record(reached)
                    }
                } _: { () throws(SQLError) in
                    try run.run(from: context.checkpoint)
                }
            } catch { throw table.session.db.cause(of: error) }
            if !run.hasRun { context.setFinalNote(BatchRun.finalNote(of: context.version, in: ledger)) }
        }
        return ran
    }

    /// Runs a long migration in batches on an asynchronous connection: calls `batches` again and again, each
    /// time in a transaction of its own, until it returns `done`.
    ///
    /// This is `whenMigrating(toVersion:in:batches:)` for an asynchronous connection. Its parameters,
    /// cursors, checkpoints, errors and cancellation are the same. The closure runs on the caller's actor.
    /// Other hosts may run the same batches at the same time: each batch begins at the cursor in the
    /// database. If a batch sends no statement for `lockTimeout`, or for 60 seconds if that is longer,
    /// PostgreSQL rolls it back. The call closes the connection (``AsyncSQLConnection/close()``). If a commit
    /// gets no answer, the next start finds out whether it succeeded.
    @discardableResult
    public nonisolated(nonsending) func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        addedIn: String? = nil,
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
            addedIn: addedIn,
            minimumAppVersion: minimumAppVersion
        ) { context in
            let db = try await SQLError.convertingServerErrors(of: Connection.self, db)
            ran = try await BatchRun.run(
                closing: db,
                ledger: ledger,
                of: name,
                context.version,
                from: context.checkpoint,
                lockTimeout: lockTimeout,
                recording: { try context.record($0) }
            ) { batch in
                let outcome = try await batches(db, batch, context)
                context.observe(.beforeCommit)
                return outcome
            }
            if !ran { context.setFinalNote(BatchRun.finalNote(of: context.version, in: ledger)) }
        }
        return ran
    }
}

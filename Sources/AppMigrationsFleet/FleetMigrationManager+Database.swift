public import AppMigrations
public import AppMigrationsSQL

extension FleetMigrationManager {
    /// Runs `run` in a transaction of the database that is also the store, exactly once in the life of the
    /// data, unless a reset, or an older row of the state, lets it run again.
    ///
    /// The transaction also writes the manager's document. So the work and its record are committed together,
    /// or not at all. If the host crashes, the lease is lost or the commit fails, nothing is left behind. If
    /// the answer to the commit is lost, the next read of the store shows whether it succeeded. After
    /// ``reset(to:)`` to a lower version, the closure runs again.
    ///
    /// ```swift
    /// try await migrations.whenMigrating(
    ///     toVersion: "1.3",
    ///     in: try await connect()
    /// ) { db, _ in
    ///     try await db.query("UPDATE notes SET title = trim(title)")
    /// }
    /// ```
    ///
    /// The connection is opened when the host has the lease, and closed afterwards. Opening it may take at
    /// most half the length of the lease. It must not be the store's own connection, because the store needs
    /// that connection to renew the lease while the closure runs. The library checks in the database that
    /// they are two connections. Settings that the closure changes in the session, such as `search_path`, are
    /// restored before the commit. After a deadlock or a serialization failure (SQLSTATE 40P01, 40001), the
    /// closure is called again, up to three times. The closure must send a statement at least once in the
    /// length of a lease. Otherwise the server ends the transaction, so that a stalled host doesn't keep its
    /// locks.
    ///
    /// If the server ends the process of the connection, the connection is closed within a lease. If the task
    /// is cancelled, the connection is closed half a lease later, unless the closure has ended before.
    ///
    /// Put changes of the schema into numbered files, and not into this closure. In this closure,
    /// `ALTER TABLE` waits until nobody reads the table, for at most `lockTimeout`. Queries that read the
    /// table later wait until the `ALTER TABLE` has ended. An `SQLMigrator` waits for only a second at a
    /// time, and lets these queries continue between its tries.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:addedIn:minimumAppVersion:run:)`.
    ///   - addedIn: The first release of the main line that has this migration, if a hotfix brought it.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun.
    ///   - connect: Opens a connection to the store's database, which must not be in a transaction. A pool
    ///     must lend one connection for the whole call.
    ///   - lockTimeout: How long each statement of the closure waits for a lock. After that time it throws an
    ///     error whose `isTransient` is true.
    ///   - run: The work, with the connection and its context. It must not end the transaction.
    /// - Returns: True if the closure ran on this host.
    /// - Throws: The same `MigrationError` as `whenMigrating(toVersion:addedIn:minimumAppVersion:run:)`.
    ///   Its `underlyingError` is the closure's error, or an `SQLError` of the database. The code is
    ///   `stateNotSaved` if a commit was not answered and the store can't be read. The next manager finds out
    ///   whether it was committed.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        in connect: nonisolated(nonsending) @autoclosure @escaping () async throws -> Connection,
        lockTimeout: Duration = .seconds(60),
        run: nonisolated(nonsending) (Connection, FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await perform(
            Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion)
        ) { attempt async throws(MigrationError) in
            let db = FleetConnection(within: attempt.deadline) { try await connect() }
            try await attempt.run(in: db, lockTimeout: lockTimeout, closure: run)
        }
    }

    /// Runs `batches` repeatedly on one host of the fleet, each time in a transaction of its own, until it
    /// returns `.done`.
    ///
    /// Each batch is committed exactly once in the life of the database. Use it for a table that is too large
    /// for one transaction. The transaction of a batch also writes the cursor at which the batch ended, into
    /// the table `app_migrations` of the connection's database. That needn't be the store's database. If a
    /// host crashes or loses its lease, only the current batch is lost, and the next host continues at the
    /// cursor. Between two batches others can write.
    ///
    /// The connection is opened when the host has the lease, and closed afterwards. The lease is renewed
    /// while the batches run. After the first batch of each attempt, and after each tenth of the progress,
    /// the library saves the cursor as a checkpoint in the store. So the closure saves no checkpoints. After
    /// a deadlock or a serialization failure, a batch runs again, up to three times. If the task is
    /// cancelled, the call ends between two batches with `cancelled`. ``reset(to:)`` leaves the cursors in
    /// the database, and ``reset(to:in:ledger:lockTimeout:)`` removes them. If the cursor says that all
    /// batches have ended, none runs: the version is only recorded, the event `finished` has a note, and the
    /// call returns false.
    ///
    /// Each statement waits for a lock for at most `lockTimeout`. If a batch sends no statement for
    /// `lockTimeout`, or for 60 seconds if that is longer, PostgreSQL ends its transaction. If a statement of
    /// this library isn't answered within `lockTimeout` plus half a lease, its connection is closed. Pass
    /// `ledger` if another program has a table of the default name. The other parameters, the result and the
    /// errors are those of `whenMigrating(toVersion:addedIn:minimumAppVersion:in:lockTimeout:run:)`. The
    /// batches before a failure stay committed.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        in connect: nonisolated(nonsending) @autoclosure @escaping () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        batches:
            nonisolated(nonsending) (Connection, MigrationBatch, FleetMigrationContext) async throws ->
            MigrationBatch.Outcome
    ) async throws(MigrationError) -> Bool {
        try await perform(
            Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion)
        ) { attempt async throws(MigrationError) in
            let context = attempt.context
            let db = FleetConnection(within: attempt.deadline, lockTimeout: lockTimeout) {
                try await connect()
            }
            // The cursor in the database makes each batch run exactly once. So a host that has lost its lease
            // and continues for a moment does no harm: its next batch begins where the other host has ended.
            let failure = await attempt.call(closing: db) {
                let connection = try await db.open()
                let hasRun = try await BatchRun.run(
                    closing: db,
                    ledger: ledger,
                    of: name,
                    context.version,
                    from: context.checkpoint,
                    lockTimeout: lockTimeout,
                    recording: { try await context.record($0) }
                ) { batch in
                    try await batches(connection, batch, context)
                }
                if !hasRun { attempt.setFinalNote(BatchRun.finalNote(of: context.version, in: ledger)) }
            }
            await db.close()
            try await attempt.finish(failure)
        }
    }
}

extension FleetMigrationContext {
    /// Saves the cursor that the batches have reached as a checkpoint, or reports its progress.
    fileprivate func record(_ reached: BatchRun.ReachedCursor) async throws(MigrationError) {
        if reached.isCheckpoint {
            try await saveCheckpoint(reached.cursor, progress: reached.progress)
        } else if let progress = reached.progress {
            reportProgress(progress)
        }
    }
}

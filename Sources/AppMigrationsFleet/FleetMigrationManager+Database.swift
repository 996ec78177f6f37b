public import AppMigrations
public import AppMigrationsSQL

extension FleetMigrationManager {
    /// Runs `run` in a transaction of the database that is also the store, exactly once in the life of the data.
    ///
    /// The transaction also writes the manager's document. So either the work is in the database and recorded, or neither is: a
    /// host that dies, a lease that is lost and a commit that fails leave nothing behind. A commit whose answer was lost is
    /// looked up by the next read.
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
    /// The connection is made when the host has the lease, within half of its length, and closed afterwards. It is another one
    /// than the store's, by which the lease is renewed meanwhile; the database is asked whether it is. What the closure sets in
    /// the session, such as `search_path`, is put back before the commit. The closure is called again, up to three times, where it
    /// met a deadlock or a serialization failure (SQLSTATE 40P01, 40001). It sends a statement at least once in the length of a
    /// lease: the server ends a transaction whose host is silent for longer, so that a host which stands still lets go of
    /// its locks.
    ///
    /// If the server ends the process of the connection, the connection is closed within a lease. If the task is
    /// cancelled, the connection is closed half a lease later, unless the closure has ended before.
    ///
    /// Put changes of the schema into numbered files, and not into this closure. Here, `ALTER TABLE` waits behind everyone
    /// who reads the table, for up to `lockTimeout`, and everyone who comes after it waits too. An `SQLMigrator` waits for
    /// a second at a time, and lets the others through between its tries.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:outOfOrder:minimumAppVersion:run:)`.
    ///   - outOfOrder: True if the version also runs below the last-run version, once, as there.
    ///   - minimumAppVersion: The oldest app that can still use the data, as there.
    ///   - connect: Makes a connection to the store's database, which is in no transaction. A pool lends one for the whole call.
    ///   - lockTimeout: How long each statement of the closure waits for a lock. A wait that is over throws an error whose
    ///     `isTransient` is true.
    ///   - run: The work, with the connection and its context. It must not end the transaction.
    /// - Returns: True if the closure ran here.
    /// - Throws: `MigrationError` as `whenMigrating(toVersion:outOfOrder:minimumAppVersion:run:)`, with the closure's error, or an
    ///   `SQLError` of the database, as its `underlyingError`. `stateNotSaved` where a commit was not answered and the store
    ///   can't be asked: the next manager finds out whether it happened.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        in connect: nonisolated(nonsending) @autoclosure @escaping () async throws -> Connection,
        lockTimeout: Duration = .seconds(60),
        run: nonisolated(nonsending) (Connection, FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await perform(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { attempt async throws(MigrationError) in
            let db = FleetConnection(attempt.deadline) { try await connect() }
            try await attempt.run(in: db, lockTimeout: lockTimeout, run)
        }
    }

    /// Runs `batches` again and again on one host of the fleet, each time in a transaction of its own, until it says that it is
    /// done: each batch exactly once in the life of the database.
    ///
    /// It is for a table that is too large for one transaction. The transaction of a batch also writes the cursor at which the
    /// batch ended, into the table `app_migrations` of the connection's database, which needn't be the store's. A host that dies, or
    /// loses its lease, loses the batch under way and no other: the next one goes on at the cursor. Between two batches others can write.
    ///
    /// The connection is made when the host has the lease, which is renewed meanwhile, and closed afterwards. The store gets the
    /// cursor as a checkpoint after the first batch of each attempt and after each tenth of the progress, so the closure saves
    /// none. A batch that met a deadlock or a serialization failure runs again, up to three times. A cancelled task ends between
    /// two batches with `cancelled`. ``reset(to:)`` leaves the cursors in the database; ``reset(to:in:ledger:lockTimeout:)`` removes them.
    ///
    /// Each statement waits for a lock for at most `lockTimeout`. PostgreSQL ends a batch that sends no statement for `lockTimeout`,
    /// and for at least 60 seconds. A statement of this library that isn't answered for so long and half a lease ends with its
    /// connection. `ledger` is for a database in which another program has a table of that name. The other parameters, the result and the errors are those of
    /// `whenMigrating(toVersion:outOfOrder:minimumAppVersion:in:lockTimeout:run:)`; the batches before a failure stay.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        in connect: nonisolated(nonsending) @autoclosure @escaping () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        batches:
            nonisolated(nonsending) (Connection, MigrationBatch, FleetMigrationContext) async throws ->
            MigrationBatch.Outcome
    ) async throws(MigrationError) -> Bool {
        try await perform(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { attempt async throws(MigrationError) in
            let context = attempt.context
            let db = FleetConnection(attempt.deadline, waiting: lockTimeout) { try await connect() }
            // It is the database that makes each batch run once: a host that has lost its lease and goes on for a moment begins where
            // the other one ended.
            let failure = await attempt.call(closing: db) {
                let connection = try await db.open()
                _ = try await BatchRun.run(
                    closing: db,
                    ledger: ledger,
                    of: name,
                    context.version,
                    from: context.checkpoint,
                    lockTimeout: lockTimeout,
                    telling: { try await context.reach($0) }
                ) { batch in
                    try await batches(connection, batch, context)
                }
            }
            await db.close()
            try await attempt.finish(failure)
        }
    }
}

extension FleetMigrationContext {
    fileprivate func reach(_ place: BatchRun.Place) async throws(MigrationError) {
        if place.isCheckpoint {
            try await saveCheckpoint(place.cursor, progress: place.progress)
        } else if let progress = place.progress {
            reportProgress(progress)
        }
    }
}

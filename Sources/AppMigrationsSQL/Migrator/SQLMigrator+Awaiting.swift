extension SQLMigrator where Connection: AsyncSQLConnection {
    /// Runs every migration that isn't applied to the database yet, in the order of their versions, on an
    /// asynchronous connection.
    ///
    /// As on a connection that blocks, each runs in a transaction that has the lock from its beginning. So
    /// each migration is run by one host, however many there are. A script of several statements is split,
    /// and each statement is sent by itself.
    ///
    /// The migrator uses the connection until the call returns. If you use a pool, take one connection from
    /// it for the whole call: if other code used the connection during the call, its statements would become
    /// part of a migration's transaction.
    ///
    /// If the task is cancelled, no further migration runs. Whether the running statement is stopped depends
    /// on the connection's library. The rollback is sent from a task of its own. If the error says that the
    /// rollback failed, close the connection.
    ///
    /// In a closure of a `FleetMigrationManager`, the migrator stops waiting for a statement in two cases: if
    /// it can't be answered any more, or if it isn't answered for half a lease after the task was cancelled.
    /// The server may still run the statement when the call throws. So close the connection after an error.
    ///
    /// - Parameters:
    ///   - db: A connection that is not in a transaction, unless `insideTransaction` is true.
    ///   - target: The version of the last migration to run; `nil` for all. A version below the current one
    ///     undoes nothing, because applied migrations can't be undone.
    ///   - insideTransaction: True if the caller has begun a transaction. Then each migration is a savepoint
    ///     in it, and is lost if the caller rolls back. The transaction keeps the caller's `lock_timeout` and
    ///     other timeouts.
    ///   - progress: Called after each migration that this call runs, before its commit. It answers whether
    ///     to continue.
    ///   - waiting: Called each time another host has the lock, before the wait for it begins. While another
    ///     host runs a statement outside of a transaction, `waiting` is called at once and then every ten
    ///     seconds. It is also called before each further try of a script that couldn't lock a table.
    /// - Returns: The migrations that this call applied.
    /// - Throws: ``SQLError`` with the version, the file, the line and the column. ``SQLError/applied`` has
    ///   the versions that stay applied. If an answer of `progress` leaves migrations pending,
    ///   ``SQLError/Code/stopped`` is thrown.
    @discardableResult
    public nonisolated(nonsending) func migrate(
        _ db: Connection,
        to target: Int64? = nil,
        insideTransaction: Bool = false,
        progress: (SQLMigrationProgress) -> SQLMigrationProgress.Answer = { _ in .continue },
        waiting: () -> Void = {}
    ) async throws(SQLError) -> SQLMigrationReport {
        let run = SQLMigrationRun(
            of: steps,
            in: Connection.dialect.makeSession(SQLConversation(nil)),
            to: target,
            insideTransaction: insideTransaction
        )
        try await run.session.db.run(awaiting: db) {
            switch run.callback {
            case .closure(let index, let started):
                if case .awaited(let closure) = migrations[index].closure {
                    try await closure(db) { fraction throws(SQLError) in
                        try run.continueOrThrow(progress(started.with(fraction: fraction)))
                    }
                }
            case .progress(let done): run.answer = progress(done)
            case .waiting: waiting()
            }
        } _: { () throws(SQLError) in
            try run.run()
        }
        run.reportEnd()
        return run.report
    }

    /// Compares the database with the migrations of this app, and changes nothing.
    ///
    /// - Parameter db: A connection.
    /// - Returns: The versions that are applied, pending, unknown, out of order and edited.
    /// - Throws: ``SQLError`` of the database, or of a file that can't be read.
    public nonisolated(nonsending) func status(_ db: Connection) async throws(SQLError) -> SQLMigrationStatus
    {
        let ledger = SQLLedger(Connection.dialect.makeSession(SQLConversation(nil)), named: steps.ledger)
        var status = SQLMigrationStatus(of: ledger, with: steps.all)
        try await ledger.session.db.run(awaiting: db) { () throws(SQLError) in
            status = try steps.status(of: ledger)
        }
        return status
    }

    /// Records every migration up to a version as applied, without running any of them.
    ///
    /// Call it for a database whose schema was created without this migrator. If the database already has a
    /// ledger, or if the version is 0, the call does nothing.
    ///
    /// - Parameters:
    ///   - version: The version of a migration, or 0.
    ///   - db: A connection that is not in a transaction.
    ///   - repairingLedger: True also records the versions that an existing ledger lacks. Pass it only if the
    ///     ledger is empty, or if you know that it was created with too low a version.
    /// - Returns: The versions that were recorded.
    /// - Throws: ``SQLError``. If no migration has this version, the code is ``SQLError/Code/unknownTarget``.
    @discardableResult
    public nonisolated(nonsending) func markApplied(
        upTo version: Int64,
        in db: Connection,
        repairingLedger: Bool = false
    ) async throws(SQLError) -> [Int64] {
        let ledger = SQLLedger(Connection.dialect.makeSession(SQLConversation(nil)), named: steps.ledger)
        var recorded = [Int64]()
        try await ledger.session.db.run(awaiting: db) { () throws(SQLError) in
            recorded = try steps.markApplied(upTo: version, in: ledger, repairingLedger: repairingLedger)
        }
        return recorded
    }
}

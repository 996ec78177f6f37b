@_exported public import AppMigrations

extension MigrationManager {
    /// Runs `run` in a transaction of a database, exactly once in the life of that database.
    ///
    /// The transaction also writes a row to the table `app_migrations` (`ledger:`), which is created if it is
    /// missing. So if the process crashes after the commit and before it saves the state file, the closure
    /// does not run twice: the next start finds the row, and only records the version. The commit is on the
    /// disk before the state file records the version.
    ///
    /// Only write to the connection's main database. In WAL mode, SQLite commits each attached file
    /// separately, so the row can exist while the work in an attached file is missing. Foreign keys are off
    /// in the closure and checked after it, as by an ``SQLMigrator``. If the closure calls a migrator, pass
    /// `insideTransaction: true`.
    ///
    /// In asynchronous code, this blocks the calling thread while it waits for other processes. For an
    /// ``AsyncSQLConnection``, there is an asynchronous version.
    ///
    /// The state file is read first, so a start that already has the version doesn't open the database.
    /// Therefore a database that is restored from a backup of an earlier version is not migrated. If a
    /// restored database must be migrated again, use an ``SQLMigrator``, which reads only the database and no
    /// state file, or call `reset(to:)` after restoring. The rows have the name of the manager. So if you
    /// rename the manager, it runs everything again.
    ///
    /// `MigrationManager.reset(to:)` and `forgetState` don't change a database. The row stays together with
    /// the closure's work, so the closure does not run again in that database. It does run in a database
    /// without the row, for example a restored backup. To run it again in the same database, use
    /// `reset(to:in:)`.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:run:)`; `1.4` and `1.4.0` are one row.
    ///   - addedIn: The first release of the main line that has this migration, if a hotfix brought it, as in
    ///     `whenMigrating(toVersion:addedIn:minimumAppVersion:run:)`.
    ///   - minimumAppVersion: The oldest app that can still use the data, as in
    ///     `whenMigrating(toVersion:addedIn:minimumAppVersion:run:)`.
    ///   - db: A connection that is not in a transaction. The expression is evaluated only when the closure
    ///     may have to run. A start that has nothing to do doesn't open the database, and neither does a
    ///     plan.
    ///   - ledger: The table that records the versions. Change it if another program has a table of the
    ///     default name.
    ///   - lockTimeout: How long to wait for another writer: longer than the longest migration.
    ///   - run: The work, with the connection and the migration's context. It must not end the transaction.
    ///     If it throws, its changes to the database are rolled back, so a second attempt begins with the
    ///     database as it was.
    /// - Returns: True if the closure ran.
    /// - Throws: The same `MigrationError` as `whenMigrating(toVersion:run:)`. Its `underlyingError` is the
    ///   closure's error, or an ``SQLError``: ``SQLError/Code/busy``, ``SQLError/Code/alreadyInTransaction``,
    ///   ``SQLError/Code/transactionEnded``, ``SQLError/Code/foreignKeyViolation``,
    ///   ``SQLError/Code/ledgerUnreadable``, ``SQLError/Code/foreignLedger``, or the error of the commit. In
    ///   all these cases, the closure's changes to the database were rolled back.
    @discardableResult
    public func whenMigrating<Connection: SQLConnection>(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        in db: @autoclosure () throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        run: (Connection, MigrationContext) throws -> Void
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
            do throws(SQLError) {
                try table.session.db.run {
                    try run(db, context)
                } _: { () throws(SQLError) in
                    ran = try table.runOnce(context.version)
                }
            } catch { throw table.session.db.cause(of: error) }
        }
        return ran
    }

    /// Runs an asynchronous closure in a transaction of a database, exactly once in the life of that
    /// database.
    ///
    /// This is `whenMigrating(toVersion:in:run:)` for an asynchronous connection. Its parameters, rows and
    /// errors are the same, and so are the rules for backups and `reset(to:)`. The closure runs on the
    /// caller's actor.
    ///
    /// Only this call may use the connection, and it closes the connection at the end
    /// (``AsyncSQLConnection/close()``). So if you use a pool, take one connection from it for the whole
    /// call. If the closure sends no statement for `lockTimeout`, or for 60 seconds if that is longer,
    /// PostgreSQL rolls its transaction back. If several hosts share the database and each has its own state
    /// file, one of them runs the closure. If the connection is lost at the commit, the next start finds out
    /// whether it succeeded.
    @discardableResult
    public nonisolated(nonsending) func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        in db: nonisolated(nonsending) @autoclosure () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        run: nonisolated(nonsending) (Connection, MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        var ran = false
        try await whenMigrating(
            toVersion: toVersion,
            addedIn: addedIn,
            minimumAppVersion: minimumAppVersion
        ) { context in
            let db = try await SQLError.convertingServerErrors(of: Connection.self, db)
            let table = table(
                named: ledger,
                in: Connection.dialect.makeSession(SQLConversation(nil)),
                lockTimeout: lockTimeout
            )
            try await table.session.db.run(closing: db) {
                try await run(db, context)
            } _: { () throws(SQLError) in
                ran = try table.runOnce(context.version)
            }
        }
        return ran
    }

    /// Sets the last-run version as `reset(to:)` does, and deletes the rows above `version` in the database.
    ///
    /// Then the closures of `whenMigrating(toVersion:in:run:)` above that version run again, in a database
    /// that already has their work. It is meant for recovery and for tests, while no other process migrates.
    /// The rows are deleted first. So after a crash or a `MigrationError`, call it again.
    ///
    /// - Parameters:
    ///   - version: The version to which the manager is reset. Newer versions run again.
    ///   - db: A connection that is not in a transaction.
    ///   - ledger: The table that records the versions. Change it if another program has a table of the
    ///     default name.
    ///   - lockTimeout: How long to wait for another writer.
    /// - Throws: ``SQLError`` if the rows can't be deleted, and then nothing was reset. Otherwise the same
    ///   `MigrationError` as `reset(to:)`.
    public func reset<Connection: SQLConnection>(
        to version: String,
        in db: Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60)
    ) throws {
        let table = table(
            named: ledger,
            in: Connection.dialect.makeSession(SQLConversation(db)),
            lockTimeout: lockTimeout
        )
        try table.removeInTransaction(after: versionToReset(to: version))
        try reset(to: version)
    }

    /// Sets the last-run version as `reset(to:)` does, and deletes the rows above `version` in the database.
    ///
    /// This is `reset(to:in:ledger:lockTimeout:)` for an asynchronous connection. Its parameters and errors
    /// are the same.
    public nonisolated(nonsending) func reset<Connection: AsyncSQLConnection>(
        to version: String,
        in db: Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60)
    ) async throws {
        try await AppMigrationsTable.remove(
            from: db,
            ledger: ledger,
            of: name,
            after: versionToReset(to: version),
            lockTimeout: lockTimeout
        )
        try reset(to: version)
    }

    /// The table in which a database records the versions of this manager.
    func table(
        named ledger: String,
        in session: any SQLSession,
        lockTimeout: Duration
    ) -> AppMigrationsTable {
        AppMigrationsTable(session, named: ledger, of: name, lockTimeout: lockTimeout)
    }
}

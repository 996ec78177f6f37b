@_exported public import AppMigrations

extension MigrationManager {
    /// Runs `run` in a transaction of a database, exactly once in the life of that database.
    ///
    /// The transaction also writes a row of the table `app_migrations` (`ledger:`), which this makes where it is
    /// missing. A process that dies between the commit and the record in the state file does not make the
    /// closure run twice: the next start finds the row, and only records the version. The commit is on the
    /// disk before the record is.
    ///
    /// It is about the connection's main database and nothing else. In WAL mode SQLite commits each attached file for itself, so
    /// that work in an attached file can be missing where its row is there. There is no `protecting:`, since files put
    /// back while the row stays would be lost work. Foreign keys are off in the closure and checked after it, as a
    /// ``SQLMigrator`` does it. A migrator inside gets `insideTransaction: true`.
    ///
    /// In asynchronous code this waits for other processes on the calling thread. An ``AsyncSQLConnection`` has a form of its
    /// own.
    ///
    /// The state file is asked first, so that a start which has the version doesn't look at the database. A database
    /// that comes back from a backup of an earlier version is therefore not migrated: what must follow the database
    /// and not the state belongs to an ``SQLMigrator``, whose ledger is in it, or call `reset(to:)` after restoring.
    /// The rows have the name of the manager: one that is renamed finds none of them, and runs everything again.
    ///
    /// `MigrationManager.reset(to:)` and `forgetState` know no database. The row stays, and what it stands
    /// for, so that a closure does not run again in a database that has its work; in one that has not, a
    /// restored backup for instance, it runs. To run it again in the same database use
    /// `reset(to:in:)`.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:run:)`; `1.4` and `1.4.0` are one row.
    ///   - outOfOrder: True if the version also runs below the last-run version, once, as in
    ///     `whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)`.
    ///   - minimumAppVersion: The oldest app that can still use the data, as in `whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)`.
    ///   - db: A connection that is not in a transaction. The expression is evaluated only when the closure may have to
    ///     run: a start that has nothing to do, and a plan, open no database.
    ///   - ledger: The table that records what ran, for a database in which another program has one of that name.
    ///   - lockTimeout: How long to wait for another writer: longer than the longest migration.
    ///   - run: The work, with the connection and the migration's context. It must not end the transaction. A second
    ///     attempt finds nothing of the first one in the database.
    /// - Returns: True if the closure ran.
    /// - Throws: `MigrationError` as `whenMigrating(toVersion:run:)`; its `underlyingError` is what the
    ///   closure threw, or an ``SQLError``: ``SQLError/Code/busy``,
    ///   ``SQLError/Code/alreadyInTransaction``, ``SQLError/Code/transactionEnded``,
    ///   ``SQLError/Code/foreignKeyViolation``, ``SQLError/Code/ledgerUnreadable``, ``SQLError/Code/foreignLedger``, or what
    ///   the commit failed with. Nothing of the closure is in the database then.
    @discardableResult
    public func whenMigrating<Connection: SQLConnection>(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        in db: @autoclosure () throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        run: (Connection, MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        var ran = false
        try whenMigrating(
            toVersion: toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { context in
            let db = try db()
            let table = table(ledger, Connection.dialect.session(SQLConversation(db)), lockTimeout)
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
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        in db: nonisolated(nonsending) @autoclosure () async throws -> Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60),
        run: nonisolated(nonsending) (Connection, MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        var ran = false
        try await whenMigrating(
            toVersion: toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { context in
            let db = try await SQLError.telling(Connection.self, db)
            let table = table(ledger, Connection.dialect.session(SQLConversation(nil)), lockTimeout)
            try await table.session.db.run(closing: db) {
                try await run(db, context)
            } _: { () throws(SQLError) in
                ran = try table.runOnce(context.version)
            }
        }
        return ran
    }

    /// Sets the mark as `reset(to:)` does, and takes the rows above `version` out of the database.
    ///
    /// The work of `whenMigrating(toVersion:in:run:)` above that version
    /// runs again then, on a database that has its work already. For recovery and for tests, while no other
    /// process migrates. The rows go first: after a death in between, or a `MigrationError`, make the call again.
    ///
    /// - Parameters:
    ///   - version: The version at which the data is.
    ///   - db: A connection that is not in a transaction.
    ///   - ledger: The table that records what ran, for a database in which another program has one of that name.
    ///   - lockTimeout: How long to wait for another writer.
    /// - Throws: ``SQLError`` of the database, and nothing was reset then; `MigrationError` as `reset(to:)`.
    public func reset<Connection: SQLConnection>(
        to version: String,
        in db: Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60)
    ) throws {
        let table = table(ledger, Connection.dialect.session(SQLConversation(db)), lockTimeout)
        try table.removeAlone(after: versionToReset(to: version))
        try reset(to: version)
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
        try await AppMigrationsTable.remove(
            from: db,
            ledger: ledger,
            of: name,
            after: versionToReset(to: version),
            lockTimeout: lockTimeout
        )
        try reset(to: version)
    }

    /// The table in which a database records what this manager ran there.
    func table(_ ledger: String, _ session: any SQLSession, _ lockTimeout: Duration) -> AppMigrationsTable {
        AppMigrationsTable(session, named: ledger, of: name, lockTimeout: lockTimeout)
    }
}

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
    /// let migrations = try await FleetMigrationManager(
    ///     named: "Data",
    ///     currentVersion: "1.3",
    ///     firstRun: .everything,
    ///     store: SQLFleetStore(connection)
    /// )
    /// try await migrations.whenMigrating(
    ///     toVersion: "1.3",
    ///     in: database
    /// ) { db in
    ///     try await db.query("UPDATE notes SET title = trim(title)")
    /// }
    /// ```
    ///
    /// Where `database` is another connection than the store's, the lease is renewed while the closure runs. Where it is the
    /// store's own, or nothing tells, the document's row is locked instead: other hosts wait for it, until the server
    /// notices that the connection is gone. PostgreSQL looks for it after 10 s of silence, and gives it up after 15 s
    /// more. A pooler in between has to look for its clients itself: `tcp_keepidle` of PgBouncer. A manager on the same
    /// store that is used in the closure is refused then.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in `whenMigrating(toVersion:minimumAppVersion:run:)`.
    ///   - minimumAppVersion: The oldest app that can still use the data, as there.
    ///   - database: A connection to the store's database that is not in a transaction. A pool lends one for the whole call.
    ///   - run: What is to be done, with the connection. It must not end the transaction.
    /// - Returns: Whether the closure ran here.
    /// - Throws: `MigrationError` as `whenMigrating(toVersion:minimumAppVersion:run:)`, with the closure's error, or that of
    ///   the database, as its `underlyingError`. `stateNotSaved` where a commit was not answered and the store can't be
    ///   asked: the next manager finds out whether it happened.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating<Connection: AsyncSQLConnection>(
        toVersion: String,
        minimumAppVersion: String? = nil,
        in database: Connection,
        run: nonisolated(nonsending) (Connection) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        if passes(toVersion, minimumAppVersion) { return false }
        guard let declaration = try await declare(toVersion, minimumAppVersion) else { return false }
        return try await perform(declaration) { attempt async throws(MigrationError) in
            try await attempt.run(in: database, run)
        }
    }
}

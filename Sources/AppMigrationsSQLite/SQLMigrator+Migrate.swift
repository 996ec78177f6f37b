extension SQLMigrator {
    /// Runs every migration that the database does not have, in the order of their versions.
    ///
    /// Each runs in a transaction that has the write lock from its beginning, and the ledger is read again
    /// once the lock is there: of any number of starters, one runs it. Foreign keys that are on are off
    /// meanwhile, so that a table can be rebuilt, and a migration that leaves rows which refer to none, and
    /// did not before, is rolled back. When nothing is pending, nothing is locked or written.
    ///
    /// A cancelled task runs no further migration, and stops the statement that runs.
    ///
    /// - Parameters:
    ///   - db: A connection that is not in a transaction, unless `insideTransaction` says so.
    ///   - target: The version to stop at, that of a migration; `nil` for all. There is no way down.
    ///   - insideTransaction: Whether the caller has begun a transaction. Each migration is a savepoint in
    ///     it then, and is lost when the caller rolls back. Foreign keys stay as they are, since SQLite
    ///     switches them outside of a transaction only, so that dropping a table may delete the rows that
    ///     refer to it.
    ///   - progress: Told after each migration, before its commit, and answers whether to go on.
    /// - Returns: What was applied by this call.
    /// - Throws: ``SQLError`` with the version, the file and the place; ``SQLError/applied`` tells what
    ///   stays. Answers of `progress` that leave migrations pending throw ``SQLError/Code/stopped``, so
    ///   that nobody takes the schema for complete.
    @discardableResult
    @_specialize(where Connection == SQLiteConnection)
    public func migrate(
        _ db: Connection,
        to target: Int64? = nil,
        insideTransaction: Bool = false,
        progress: (SQLMigrationProgress) -> SQLMigrationProgress.Answer = { _ in .continue }
    ) throws(SQLError) -> SQLMigrationReport {
        if let target { try checkTarget(target) }
        return try Connection.dialect.waiting(lockTimeout, on: db) { () throws(SQLError) in
            let comparison = Comparison(of: try SQLLedger.versions(in: db, named: ledger), with: migrations)
            let pending = comparison.pending.filter { $0.version <= target ?? .max }
            var applied = [Int64]()
            var changed = [Int64]()
            if pending.isEmpty {
                if try hasOtherText(newestOf: comparison, in: db) { changed = try ownChanges(in: db) }
            } else {
                changed = try ownChanges(in: db)
                let steps = try MigrationRun<Connection>.steps(for: pending)
                applied = try run(steps, on: db, insideTransaction, progress)
            }
            let outOfOrder = Set(comparison.outOfOrder)
            return SQLMigrationReport(
                applied: applied,
                outOfOrder: applied.filter(outOfOrder.contains),
                unknown: comparison.unknown,
                changed: changed
            )
        }
    }

    private func run(
        _ steps: [MigrationRun<Connection>.Step],
        on db: Connection,
        _ insideTransaction: Bool,
        _ progress: (SQLMigrationProgress) -> SQLMigrationProgress.Answer
    ) throws(SQLError) -> [Int64] {
        let isSQLite = Connection.dialect.isSQLite
        if insideTransaction, isSQLite, !(try Connection.dialect.isInTransaction(db)) {
            throw SQLError(.notInTransaction, "The connection is in no transaction")
        }
        func run(checksForeignKeys: Bool) throws(SQLError) -> [Int64] {
            var run = MigrationRun(
                db: db,
                ledger: try SQLLedger(reading: db, named: ledger),
                steps: steps,
                migrator: self,
                checksForeignKeys: checksForeignKeys
            )
            switch (insideTransaction, transactions) {
            case (true, _): try run.runInside(progress)
            case (false, .eachMigration): try run.runEach(progress)
            case (false, .all): try run.runAll(progress)
            }
            return run.applied
        }
        guard isSQLite, !insideTransaction else { return try run(checksForeignKeys: false) }
        return try SQLForeignKeys.turnedOff(on: db, run)
    }
}

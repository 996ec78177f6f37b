extension SQLMigrator where Connection: SQLConnection {
    /// Runs every migration that the database does not have, in the order of their versions.
    ///
    /// Each runs in a transaction that has the write lock from its beginning, and the ledger is read again
    /// once the lock is there: of any number of processes, one runs it. Foreign keys that are on are off
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
    ///   - progress: Told after each migration that this call ran, before its commit, and answers whether to continue.
    ///   - waiting: Called each time another process has the lock, before the wait for it begins; on PostgreSQL also before each
    ///     further try of a script that could not have a table.
    /// - Returns: What was applied by this call.
    /// - Throws: ``SQLError`` with the version, the file and the place; ``SQLError/applied`` tells what
    ///   stays. Answers of `progress` that leave migrations pending throw ``SQLError/Code/stopped``, so
    ///   that nobody takes the schema for complete.
    @discardableResult
    public func migrate(
        _ db: Connection,
        to target: Int64? = nil,
        insideTransaction: Bool = false,
        progress: (SQLMigrationProgress) -> SQLMigrationProgress.Answer = { _ in .continue },
        waiting: () -> Void = {}
    ) throws(SQLError) -> SQLMigrationReport {
        let conversation = SQLConversation(db)
        let run = SQLMigrationRun(
            of: steps,
            in: Connection.dialect.session(conversation),
            to: target,
            insideTransaction: insideTransaction
        )
        try conversation.run {
            switch run.call {
            case .closure(let place, let step):
                if case .direct(let code) = migrations[place].code {
                    try code(db) { fraction throws(SQLError) in
                        try run.checkReport(progress(step.reporting(fraction)))
                    }
                }
            case .progress(let done): run.answer = progress(done)
            case .waiting: waiting()
            }
        } _: { () throws(SQLError) in
            try run.run()
        }
        return run.report
    }
}

package import AppMigrations

extension AppMigrationsTable {
    /// Calls the caller's closure in a transaction that also writes its row, unless the row is there already; tells whether it
    /// did.
    func runOnce(_ version: AppVersion, lockTimeout: Duration) throws(SQLError) -> Bool {
        var hasRun = false
        try alone(lockTimeout: lockTimeout) { checking throws(SQLError) in
            try createIfNeeded()
            switch try look(for: version) {
            case .done: return
            case .begun(let cursor): throw SQLError.begunInBatches(version, cursor)
            case .new: break
            }
            try checking { () throws(SQLError) in
                try session.inOneTransaction { () throws(SQLError) in try session.db.call() }
            }
            try add(version)
            hasRun = true
        }
        return hasRun
    }

    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    private func alone(
        lockTimeout: Duration,
        _ body: (_ checking: @escaping SQLChecking) throws(SQLError) -> Void
    ) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try session.withoutForeignKeys { checking throws(SQLError) in
                try transaction(lockTimeout, durably: true) { () throws(SQLError) in try body(checking) }
            }
        }
    }

    private func transaction(_ lockTimeout: Duration, durably: Bool, _ body: SQLRules) throws(SQLError) {
        try session.lasting(durably: durably) { () throws(SQLError) in
            try session.transaction(SQLLockWait(lockTimeout), durably: durably, body)
        }
    }

    /// Calls the closure of one batch in a transaction that also writes its cursor, unless the last batch has run.
    ///
    /// Foreign keys stay as they are: to look for rows that refer to none takes a look at the whole database.
    func runBatch(_ batch: BatchCall, isFirst: Bool, lockTimeout: Duration) throws(SQLError) {
        let version = batch.version
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try transaction(lockTimeout, durably: false) { () throws(SQLError) in
                if isFirst { try createIfNeeded() }
                let place = try look(for: version)
                if case .done = place { return }
                batch.cursor = place.cursor
                try session.inOneTransaction { () throws(SQLError) in try session.db.call() }
                guard let outcome = batch.outcome else { return }
                try outcome.check(after: place, of: version)
                try place == .new ? add(version, at: outcome.cursor) : move(version, to: outcome.cursor)
            }
        }
    }

    /// Brings the batches of a version to the disk, whose last one has run.
    ///
    /// The commit of a batch lasts as the connection's setting has it. This one lasts when the power fails, and with it
    /// all that were before.
    func synchronize(_ version: AppVersion, lockTimeout: Duration) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try transaction(lockTimeout, durably: true) { () throws(SQLError) in
                // Another process may have reset the database meanwhile.
                try require(version, at: nil)
                // SQLite writes no page for an UPDATE that changes nothing.
                try move(version, to: "")
                try move(version, to: nil)
            }
        }
    }

    /// The cursor at which the batches of a version stand, where there is one.
    func cursor(of version: AppVersion, lockTimeout: Duration) throws(SQLError) -> String? {
        var cursor: String?
        try session.waiting(lockTimeout) { () throws(SQLError) in
            if try has("cursor", columns()) { cursor = try look(for: version).cursor }
        }
        return cursor
    }

    /// Removes the rows of a manager above a version, on a connection that is awaited.
    package static nonisolated(nonsending) func remove<Connection: AsyncSQLConnection>(
        from db: Connection,
        ledger: String,
        of manager: String,
        after version: AppVersion,
        lockTimeout: Duration
    ) async throws(SQLError) {
        let conversation = SQLConversation(nil)
        let session = Connection.dialect.session(conversation)
        let table = Self(session: session, name: ledger, manager: manager)
        try await conversation.run(awaiting: db) { () throws(SQLError) in
            try table.removeAlone(after: version, lockTimeout: lockTimeout)
        }
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion, lockTimeout: Duration) throws(SQLError) {
        var isThere = false
        try session.waiting(lockTimeout) { () throws(SQLError) in isThere = try !columns().isEmpty }
        if isThere {
            try alone(lockTimeout: lockTimeout) { _ throws(SQLError) in try remove(after: version) }
        }
    }
}

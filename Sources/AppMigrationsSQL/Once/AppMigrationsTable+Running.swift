package import AppMigrations

extension AppMigrationsTable {
    /// Calls the caller's closure in a transaction that also writes its row, unless the row is there already; tells whether it
    /// did.
    func runOnce(_ version: AppVersion) throws(SQLError) -> Bool {
        var hasRun = false
        try alone { checking throws(SQLError) in
            try createIfNeeded()
            switch try look(for: version) {
            case .done: return
            case .begun(let cursor):
                throw unreadable(
                    "Version \(version) was begun in batches and stands at \"\(cursor)\": what ends it is batches: again"
                )
            case .new: break
            }
            _ = try checking { () throws(SQLError) in
                try session.behindSavepoint { () throws(SQLError) in try session.db.call() }
            }
            try add(version)
            hasRun = true
        }
        return hasRun
    }

    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    private func alone(_ body: (_ checking: @escaping SQLChecking) throws(SQLError) -> Void) throws(SQLError)
    {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try session.withoutForeignKeys { checking throws(SQLError) in
                try transaction(durably: true) { () throws(SQLError) in try body(checking) }
            }
        }
    }

    /// Runs `body` in a transaction with the write lock.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    func transaction(durably: Bool, _ body: SQLRules) throws(SQLError) {
        try session.lasting(durably: durably) { () throws(SQLError) in
            try session.transaction(SQLLockWait(lockTimeout), durably: durably, body)
        }
    }

    /// Brings the batches of a version to the disk, whose last one has run.
    ///
    /// The commit of a batch lasts as the connection's setting has it. This one lasts when the power fails, and with it
    /// all that were before.
    func synchronize(_ version: AppVersion) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try transaction(durably: true) { () throws(SQLError) in
                // Another process may have reset the database meanwhile.
                if try !isThere(version, at: nil) { throw notKept("\(version)") }
                // SQLite writes no page for an UPDATE that changes nothing.
                try move(version, to: "")
                try move(version, to: nil)
            }
        }
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
        let table = Self(session, named: ledger, of: manager, lockTimeout: lockTimeout)
        try await conversation.run(awaiting: db) { () throws(SQLError) in
            try table.removeAlone(after: version)
        }
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in try read() }
        if exists { try alone { _ throws(SQLError) in try remove(after: version) } }
    }
}

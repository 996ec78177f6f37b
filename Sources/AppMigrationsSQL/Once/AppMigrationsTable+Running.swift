internal import AppMigrations

extension AppMigrationsTable {
    /// Runs `body` in a transaction that also writes its row, unless the row is there already.
    ///
    /// - Returns: Whether it ran.
    /// - Throws: What `body` threw, as it was; ``SQLError`` for everything else; `CancellationError` where
    ///   the task was cancelled.
    func runOnce(_ version: AppVersion, lockTimeout: Duration, _ body: () throws -> Void) throws -> Bool {
        var ran = false
        try passingErrors { call throws(SQLError) in
            try alone(lockTimeout: lockTimeout) { checks throws(SQLError) in
                try createIfNeeded()
                switch try place(of: version) {
                case .done: return
                case .begun(let cursor): throw .begunInBatches(version, cursor)
                case .new: break
                }
                func work() throws(SQLError) { try call.run(body) }
                if checks { try session.checkingReferences(work) } else { try work() }
                try add(version)
                ran = true
            }
        }
        return ran
    }

    /// Runs the closure of one batch in a transaction that also writes its cursor, unless the last batch has run.
    ///
    /// Foreign keys stay as they are: to look for rows that refer to none takes a look at the whole database.
    ///
    /// - Returns: What `body` returned; `nil` where nothing was left to do.
    /// - Throws: As ``runOnce(_:lockTimeout:_:)``.
    func runBatch(
        _ version: AppVersion,
        isFirst: Bool,
        lockTimeout: Duration,
        _ body: (_ cursor: String?) throws -> MigrationBatch.Outcome
    ) throws -> MigrationBatch.Outcome? {
        var outcome: MigrationBatch.Outcome?
        try passingErrors { call throws(SQLError) in
            try session.waiting(lockTimeout) { () throws(SQLError) in
                try session.beforeDurable { () throws(SQLError) in
                    try session.transaction(wait: lockTimeout) { () throws(SQLError) in
                        if isFirst { try createIfNeeded() }
                        let place = try place(of: version)
                        if case .done = place { return }
                        try call.run { outcome = try body(place.cursor) }
                        guard let outcome else { return }
                        try outcome.check(after: place, of: version)
                        if case .new = place {
                            try add(version, at: outcome.cursor)
                        } else {
                            try move(version, to: outcome.cursor)
                        }
                    }
                }
            }
        }
        return outcome
    }

    /// Brings the batches of a version to the disk, whose last one has run.
    ///
    /// The commit of a batch lasts as the connection's setting has it. This one lasts when the power fails, and with it
    /// all that were before.
    func synchronize(_ version: AppVersion, lockTimeout: Duration) throws {
        try passingErrors { _ throws(SQLError) in
            try session.waiting(lockTimeout) { () throws(SQLError) in
                try session.durably { () throws(SQLError) in
                    try session.transaction(wait: lockTimeout) { () throws(SQLError) in
                        // Another process may have reset the database meanwhile.
                        try require(version, at: nil)
                        // SQLite writes no page for an UPDATE that changes nothing.
                        try move(version, to: "")
                        try move(version, to: nil)
                    }
                }
            }
        }
    }

    /// What the table says of a version, where there is a table.
    func find(_ version: AppVersion, lockTimeout: Duration) throws(SQLError) -> Place {
        var found = Place.new
        try session.waiting(lockTimeout) { () throws(SQLError) in
            if try columns().contains("cursor") { found = try place(of: version) }
        }
        return found
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion, lockTimeout: Duration) throws(SQLError) {
        var isThere = false
        try session.waiting(lockTimeout) { () throws(SQLError) in isThere = try exist() }
        guard isThere else { return }
        try alone(lockTimeout: lockTimeout) { (_) throws(SQLError) in try remove(after: version) }
    }
}

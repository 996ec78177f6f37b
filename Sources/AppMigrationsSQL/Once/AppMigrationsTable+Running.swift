internal import AppMigrations

extension AppMigrationsTable {
    /// Calls the caller's closure in a transaction that also writes its row, unless the row is there already.
    func runOnce(_ version: AppVersion, lockTimeout: Duration) -> SQLWork {
        alone(lockTimeout: lockTimeout) { checking in
            self.createIfNeeded().then { self.look(for: version) }.then { () throws(SQLError) in
                switch self.place {
                case .done: return .nothing
                case .begun(let cursor): throw SQLError.begunInBatches(version, cursor)
                case .new: break
                }
                return checking { self.session.inOneTransaction { .call } }
                    .then { self.add(version) }
                    .noting { self.hasRun = true }
            }
        }
    }

    /// Calls the closure of one batch in a transaction that also writes its cursor, unless the last batch has run.
    ///
    /// Foreign keys stay as they are: to look for rows that refer to none takes a look at the whole database.
    func runBatch(_ batch: BatchCall, isFirst: Bool, lockTimeout: Duration) -> SQLWork {
        let version = batch.version
        return transaction(lockTimeout: lockTimeout, durably: false) {
            (isFirst ? self.createIfNeeded() : .nothing).then { self.look(for: version) }.then {
                let place = self.place
                if case .done = place { return .nothing }
                batch.cursor = place.cursor
                return self.session.inOneTransaction { .call }.then { () throws(SQLError) in
                    guard let outcome = batch.outcome else { return .nothing }
                    try outcome.check(after: place, of: version)
                    if case .new = place { return self.add(version, at: outcome.cursor) }
                    return self.move(version, to: outcome.cursor)
                }
            }
        }
    }

    /// Brings the batches of a version to the disk, whose last one has run.
    ///
    /// The commit of a batch lasts as the connection's setting has it. This one lasts when the power fails, and with it
    /// all that were before.
    func synchronize(_ version: AppVersion, lockTimeout: Duration) -> SQLWork {
        transaction(lockTimeout: lockTimeout, durably: true) {
            // Another process may have reset the database meanwhile.
            self.require(version, at: nil)
                // SQLite writes no page for an UPDATE that changes nothing.
                .then { self.move(version, to: "") }
                .then { self.move(version, to: nil) }
        }
    }

    private func transaction(
        lockTimeout: Duration,
        durably: Bool,
        _ body: @escaping () -> SQLWork
    ) -> SQLWork {
        session.waiting(lockTimeout) {
            self.session.lasting(durably: durably) {
                self.session.transaction(SQLLockWait(lockTimeout), durably: durably, body)
            }
        }
    }

    /// Looks where a version stands, where there is a table.
    func find(_ version: AppVersion, lockTimeout: Duration) -> SQLWork {
        session.waiting(lockTimeout) {
            self.columns().then { self.has("cursor", $0) ? self.look(for: version) : .nothing }
        }
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion, lockTimeout: Duration) -> SQLWork {
        session.waiting(lockTimeout) { self.columns() }.whether { isThere in
            isThere
                ? self.alone(lockTimeout: lockTimeout) { _ in self.remove(after: version) } : .nothing
        }
    }
}

internal import AppMigrations

extension AppMigrationsTable {
    /// Calls the caller's closure in a transaction that also writes its row, unless the row is there already.
    func runOnce(_ version: AppVersion, lockTimeout: Duration) -> SQLWork<Bool> {
        var ran = false
        return alone(lockTimeout: lockTimeout) { checks in
            createIfNeeded().then { place(of: version) }.then { place in
                switch place {
                case .done: return .nothing
                case .begun(let cursor): throw SQLError.begunInBatches(version, cursor)
                case .new: break
                }
                let work = { session.inOneTransaction { .call } }
                return (checks ? session.checkingReferences(work) : work())
                    .then { add(version) }
                    .map { ran = true }
            }
        }.map { ran }
    }

    /// Calls the closure of one batch in a transaction that also writes its cursor, unless the last batch has run.
    ///
    /// Foreign keys stay as they are: to look for rows that refer to none takes a look at the whole database.
    func runBatch(_ batch: BatchCall, isFirst: Bool, lockTimeout: Duration) -> SQLWork<Void> {
        let version = batch.version
        return session.waiting(lockTimeout) {
            session.lasting(durably: false) {
                session.transaction(SQLLockWait(lockTimeout)) {
                    (isFirst ? createIfNeeded() : .nothing).then { place(of: version) }.then { place in
                        if case .done = place { return .nothing }
                        batch.cursor = place.cursor
                        return session.inOneTransaction { .call }.then {
                            guard let outcome = batch.outcome else { return .nothing }
                            try outcome.check(after: place, of: version)
                            if case .new = place { return add(version, at: outcome.cursor) }
                            return move(version, to: outcome.cursor)
                        }
                    }
                }
            }
        }
    }

    /// Brings the batches of a version to the disk, whose last one has run.
    ///
    /// The commit of a batch lasts as the connection's setting has it. This one lasts when the power fails, and with it
    /// all that were before.
    func synchronize(_ version: AppVersion, lockTimeout: Duration) -> SQLWork<Void> {
        session.waiting(lockTimeout) {
            session.lasting(durably: true) {
                session.transaction(SQLLockWait(lockTimeout), durably: true) {
                    // Another process may have reset the database meanwhile.
                    require(version, at: nil)
                        // SQLite writes no page for an UPDATE that changes nothing.
                        .then { move(version, to: "") }
                        .then { move(version, to: nil) }
                }
            }
        }
    }

    /// What the table says of a version, where there is a table.
    func find(_ version: AppVersion, lockTimeout: Duration) -> SQLWork<Place> {
        var found = Place.new
        return session.waiting(lockTimeout) {
            columns().then { columns in
                columns.contains("cursor") ? place(of: version).map { found = $0 } : .nothing
            }
        }.map { found }
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion, lockTimeout: Duration) -> SQLWork<Void> {
        var isThere = false
        return session.waiting(lockTimeout) { columns().map { isThere = !$0.isEmpty } }.then {
            isThere ? alone(lockTimeout: lockTimeout) { _ in remove(after: version) } : .nothing
        }
    }
}

internal import AppMigrations

extension AppMigrationsTable {
    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    func alone(
        lockTimeout: Duration,
        _ body: @escaping (_ checking: @escaping SQLWork.Around) -> SQLWork
    ) -> SQLWork {
        session.waiting(lockTimeout) {
            self.session.withoutForeignKeys { checking in
                self.session.lasting(durably: true) {
                    self.session.transaction(SQLLockWait(lockTimeout), durably: true) { body(checking) }
                }
            }
        }
    }
}

extension AppMigrationsTable {
    /// Runs a closure once in the life of the database; tells whether it ran.
    @inline(never)
    func runOnce(
        _ version: AppVersion,
        lockTimeout: Duration,
        on db: any SQLConnection,
        _ closure: () throws -> Void
    ) throws -> Bool {
        let failure = ClosureFailure()
        do throws(SQLError) {
            try runOnce(version, lockTimeout: lockTimeout).run(on: db, keeping: failure, calling: closure)
        } catch {
            throw failure.cause(of: error)
        }
        return hasRun
    }

    /// The same, where the connection is awaited.
    @inline(never)
    nonisolated(nonsending) func runOnce(
        _ version: AppVersion,
        lockTimeout: Duration,
        awaiting db: any AsyncSQLConnection,
        _ closure: nonisolated(nonsending) () async throws -> Void
    ) async throws -> Bool {
        let failure = ClosureFailure()
        do throws(SQLError) {
            try await runOnce(version, lockTimeout: lockTimeout)
                .run(awaiting: db, keeping: failure, calling: closure)
        } catch {
            throw failure.cause(of: error)
        }
        return hasRun
    }
}

public import AppMigrations
public import AppMigrationsSQL

extension FleetMigrationManager {
    /// Sets the last-run version: the data is at `version`, whatever happened before.
    ///
    /// Every later version is pending again, and the record of an unfinished or failed attempt is removed.
    /// `version` becomes the baseline, and the app's version becomes the newest that was started. If this
    /// manager was closed, it can be used again. Declare all migrations again, from the first one. Managers
    /// of other hosts throw `stateBehind`. ``requiredAppVersion`` stays. If a host is migrating, the call
    /// waits for it. Use it for recovery and for tests.
    ///
    /// Closures of `run:` and `in:` run again. Batches that have ended don't run again, and batches that
    /// haven't ended continue at their cursor: use ``reset(to:in:ledger:lockTimeout:)`` to repeat them. The
    /// numbered files of an `SQLMigrator` that have run don't run again.
    ///
    /// Call it once, in a command of your app. If it is called at every start, every host runs the migrations
    /// again. To reset without a deploy, run the statement of <doc:OperatingAFleet> in the store's database
    /// instead.
    ///
    /// - Throws: `MigrationError` with the code `readOnly`, `invalidVersion`, `newerThanCurrentVersion`,
    ///   `tooOld`, `usedByNewerApp`, `nested`, `lockTimeout`, `cancelled`, `stateBehind`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `stateNotSaved` or `managerClosed`. The code
    ///   `managerClosed` means that a plan passed this manager to its closure, and that the plan has ended.
    public func reset(to version: String) async throws(MigrationError) {
        let unchanged: Message = "lastRunVersion was not changed."
        do throws(MigrationError) {
            try requireWritable()
            let versions = try rules.versions(resetTo: version)
            try await repeatUntilSaved { found throws(MigrationError) in
                let next = try rules.resetting(requireState(in: found), to: versions)
                let outcome = try await save(next, over: found, else: unchanged)
                if case .saved = outcome {
                    declarations.withLock { $0.reopen(at: next.versions) }
                    currentLaunch.withLock { $0 = .same }
                }
                return outcome
            }
        } catch {
            throw error.leaving(.text(unchanged))
        }
    }

    /// Sets the last-run version as ``reset(to:)`` does, and deletes the rows above `version` from the
    /// database, so that `whenMigrating(toVersion:in:batches:)` runs there again, from the first batch.
    ///
    /// Use it only if the batches are repeatable. Otherwise their work is done twice.
    ///
    /// The rows are deleted first. After a crash between the two steps, or after a `MigrationError`, call it
    /// again. The connection must not be in a transaction, and it isn't closed. `lockTimeout` is how long to
    /// wait if another transaction has locked the rows.
    ///
    /// - Throws: `SQLError` if the database fails; nothing was reset. Otherwise the errors of ``reset(to:)``.
    nonisolated(nonsending) public func reset<Connection: AsyncSQLConnection>(
        to version: String,
        in db: Connection,
        ledger: String = "app_migrations",
        lockTimeout: Duration = .seconds(60)
    ) async throws {
        let limit: AppVersion
        do throws(MigrationError) {
            try requireWritable()
            limit = try rules.versions(resetTo: version).lastRun
        } catch {
            throw error.leaving(.text("Nothing was reset."))
        }
        try await AppMigrationsTable.remove(
            from: db,
            ledger: ledger,
            of: name,
            after: limit,
            lockTimeout: lockTimeout
        )
        try await reset(to: version)
    }

    /// Forgets the crashes in pending migrations, so that the limit of attempts lets them run again.
    ///
    /// The last-run version, checkpoints, ``requiredAppVersion`` and the history stay. A closed manager stays
    /// closed. If a host is migrating, the call waits for it.
    ///
    /// - Throws: `MigrationError` with the code `readOnly`, `managerClosed`, `nested`, `lockTimeout`,
    ///   `cancelled`, `stateBehind`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or
    ///   `stateNotSaved`. In each case nothing was forgotten.
    public func resetAttempts() async throws(MigrationError) {
        let unchanged: Message = "The counts of crashes were not changed."
        do throws(MigrationError) {
            try requireWritable()
            try await repeatUntilSaved { found throws(MigrationError) in
                let state = try requireState(in: found).changed { $0.resetAttempts() }
                return try await save(state, over: found, else: unchanged)
            }
        } catch {
            throw error.leaving(.text(unchanged))
        }
    }

    private func requireWritable() throws(MigrationError) {
        if options.isReadOnly { throw .readOnly(location) }
        if try RunToken.enclosing(configuration.token) != nil { throw .nested(nil, in: location) }
        if let ended = declarations.withLock({ $0.endOfPlanError }) { throw ended }
    }
}

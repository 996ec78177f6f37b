public import AppMigrations
public import AppMigrationsSQL

extension FleetMigrationManager {
    /// Sets the mark: the data is at `version`, whatever happened before.
    ///
    /// Everything after it is pending again, and an interruption is cleared. The version becomes the baseline, the app's version
    /// the newest launched. This manager is opened again, and its declarations begin again; those of other hosts throw `managerClosed`.
    /// The floor of ``requiredAppVersion`` stays. For recovery and for tests; waits for a host that is migrating.
    ///
    /// Call it once, as a command: a reset that every start makes runs the migrations again on each host. Where no
    /// deploy is wanted, a statement on the store does the same; the guide <doc:RunningAFleet> has it.
    ///
    /// - Throws: `MigrationError` with the code `readOnly`, `invalidVersion`, `newerThanCurrentVersion`, `tooOld`, `usedByNewerApp`,
    ///   `managerClosed` (of a manager whose plan is over), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or `stateNotSaved`.
    public func reset(to version: String) async throws(MigrationError) {
        let unchanged: Message = "lastRunVersion was not changed."
        do throws(MigrationError) {
            try requireWritable()
            let versions = try rules.versions(resetTo: version)
            try await looking { found throws(MigrationError) in
                let next = try rules.resetting(existing(found), to: versions)
                let outcome = try await save(next, over: found, else: unchanged)
                if case .saved = outcome {
                    declarations.withLock { $0.reopen(at: next.versions) }
                    currentLaunch.withLock { $0 = .same }
                }
                return outcome
            }
        } catch {
            throw error.completed(by: unchanged)
        }
    }

    /// Sets the mark as ``reset(to:)`` does, and takes the rows above `version` out of the database, so that what
    /// `whenMigrating(toVersion:in:batches:)` ran there runs again.
    ///
    /// The rows go first: after a death in between, or a `MigrationError`, make the call again. The connection is in no transaction, and isn't
    /// closed. `lockTimeout` is how long to wait for another writer.
    ///
    /// - Throws: `SQLError` of the database, and nothing was reset then; `MigrationError` as ``reset(to:)``.
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
            throw error.completed(by: "Nothing was reset.")
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

    /// Forgets the hosts that died in pending migrations, so that the limit of attempts lets these run again.
    ///
    /// The mark, checkpoints, the floor and the history stay. A manager that was closed stays closed. Waits for a
    /// host that is migrating.
    ///
    /// - Throws: `MigrationError` with the code `readOnly`, `managerClosed`, `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat` or `stateNotSaved`. Nothing was forgotten then.
    public func resetAttempts() async throws(MigrationError) {
        let unchanged: Message = "The counts of deaths were not changed."
        do throws(MigrationError) {
            try requireWritable()
            try await looking { found throws(MigrationError) in
                let state = try existing(found).resettingAttempts()
                return try await save(state, over: found, else: unchanged)
            }
        } catch {
            throw error.completed(by: unchanged)
        }
    }

    private func requireWritable() throws(MigrationError) {
        if options.isReadOnly { throw .readOnly(location) }
        if try RunToken.enclosing(place.token) != nil { throw .nested(nil, in: location) }
        if let ended = declarations.withLock({ $0.endOfPlanError }) { throw ended }
    }
}

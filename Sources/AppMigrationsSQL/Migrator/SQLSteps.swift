/// A migrator's migrations and settings, without the type of its connection.
struct SQLSteps: Sendable {
    /// In the order of their versions.
    let all: [SQLStep]
    /// The table that records which versions were applied.
    let ledger: String
    /// True if all pending migrations share one transaction.
    let isOneTransaction: Bool
    /// True to run no migration if the SQL of an applied one was edited afterwards.
    let refusesEditedVersions: Bool
    /// True to run no migration if a pending one has a lower version than an applied one.
    let refusesOutOfOrder: Bool
    let lockTimeout: Duration

    /// Refuses invalid versions, duplicate versions and an invalid name of the ledger.
    func check() throws(SQLError) {
        if ledger.isEmpty || ledger.utf8.contains(0) {
            throw SQLError(.ledgerUnreadable, "The name of a ledger must not be empty or contain a zero byte")
        }
        for index in all.indices {
            let step = all[index]
            if step.version < 0 || step.version >= 1_000_000_000_000_000_000 {
                throw step.located(SQLError(.invalidVersion, "The version \(step.version) is out of range"))
            }
            guard index > 0, all[index - 1].version == step.version else { continue }
            let labels = "\(all[index - 1].label) and \(step.label)"
            throw SQLError(.duplicateVersion, "Two migrations have the version \(step.version): \(labels)")
        }
    }

    /// Compares a ledger with the migrations.
    func status(of ledger: SQLLedger) throws(SQLError) -> SQLMigrationStatus {
        try ledger.session.withLockTimeout(lockTimeout) { () throws(SQLError) in
            try ledger.compare(with: all)
        }
        return SQLMigrationStatus(of: ledger, with: all)
    }

    /// Records the steps up to a version that aren't recorded yet, and returns their versions.
    ///
    /// If the ledger exists, this records nothing unless `repairingLedger` is true.
    func markApplied(
        upTo version: Int64,
        in ledger: SQLLedger,
        repairingLedger: Bool
    ) throws(SQLError) -> [Int64] {
        var recorded = [Int64]()
        try ledger.session.withLockTimeout(lockTimeout) { () throws(SQLError) in
            try ledger.read()
            if ledger.exists && !repairingLedger || version == 0 { return }
            do throws(SQLError) { try checkTarget(version) } catch {
                // The number is the database's own: only a newer release can have counted further.
                let isNewer = version > all.last?.version ?? 0
                throw isNewer ? error.with { $0.userAdvice = .updateApp } : error
            }
            let lock = SQLLockWait(lockTimeout, ledger: ledger.name)
            try ledger.session.transaction(lock) { () throws(SQLError) in
                try ledger.read()
                // Another process may have created the ledger before this one got the lock.
                if ledger.exists && !repairingLedger { return }
                try ledger.createIfMissing()
                for step in all.prefix(while: { $0.version <= version }) {
                    if try ledger.hasApplied(step.version) { continue }
                    try ledger.record(step.version, name: step.name, checksum: try step.checksum())
                    recorded.append(step.version)
                }
            }
        }
        return recorded
    }

    /// True if the SQL of the newest applied migration was edited: its checksum isn't the one in the ledger.
    ///
    /// If nothing is pending, only this migration is compared, so that a start reads one file at most. That
    /// is enough to notice a ledger that another migrator wrote, because then every checksum differs.
    func isNewestEdited(_ status: SQLMigrationStatus, in ledger: SQLLedger) throws(SQLError) -> Bool {
        guard let newest = all.last(where: { status.applied.contains($0.version) }),
            let recorded = try ledger.checksum(of: newest.version)
        else { return false }
        return try newest.checksum() != recorded
    }

    func checkTarget(_ target: Int64) throws(SQLError) {
        guard !all.contains(where: { $0.version == target }) else { return }
        throw SQLError(.unknownTarget, "No migration has the version \(target)")
    }
}

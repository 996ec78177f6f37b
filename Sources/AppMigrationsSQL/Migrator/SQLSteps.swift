/// The migrations of a migrator and its settings, without the type of its connection.
struct SQLSteps: Sendable {
    /// In the order of their versions.
    let all: [SQLStep]
    /// The table that records what was applied.
    let ledger: String
    /// Whether all that are pending share a transaction.
    let isOneTransaction: Bool
    let lockTimeout: Duration

    /// Refuses versions and names that can't be; tells whether the versions are in order.
    static func check(_ steps: [SQLStep], _ ledger: String) throws(SQLError) -> Bool {
        if ledger.isEmpty || ledger.utf8.contains(0) {
            throw SQLError(.ledgerUnreadable, "The name of a ledger must not be empty or hold a zero byte")
        }
        var isInOrder = true
        var last: Int64 = -1
        for step in steps {
            if step.version < 0 || step.version >= 1_000_000_000_000_000_000 {
                throw step.located(SQLError(.invalidVersion, "The version \(step.version) is out of range"))
            }
            isInOrder = isInOrder && step.version > last
            last = step.version
        }
        return isInOrder
    }

    static func sorted(_ steps: [SQLStep]) throws(SQLError) -> [SQLStep] {
        let sorted = steps.sorted { $0.version < $1.version }
        for (first, second) in zip(sorted, sorted.dropFirst()) where first.version == second.version {
            throw SQLError(
                .duplicateVersion,
                "Two migrations have the version \(first.version): \(first.label) and \(second.label)"
            )
        }
        return sorted
    }

    /// Runs what is pending; `run` runs the closure of the migration at a place.
    func migrate(
        _ session: any SQLSession,
        to target: Int64?,
        _ insideTransaction: Bool,
        _ progress: SQLMigrationRun.Progress,
        _ run: (_ place: Int) throws -> Void
    ) throws(SQLError) -> SQLMigrationReport {
        if let target { try checkTarget(target) }
        var report = SQLMigrationReport()
        try session.waiting(lockTimeout) { () throws(SQLError) in
            let difference = LedgerDifference(
                of: try SQLLedger.versions(in: session, named: ledger),
                with: all
            )
            report.unknown = difference.unknown
            let pending = difference.pending.filter { all[$0].version <= target ?? .max }
            if pending.isEmpty {
                if try hasOtherText(newestOf: difference, in: session) {
                    report.changed = try ownChanges(in: session)
                }
                return
            }
            report.changed = try ownChanges(in: session)
            var migrationRun = try SQLMigrationRun(of: pending, in: self, session)
            try migrationRun.start(insideTransaction, progress, run)
            report.applied = migrationRun.applied
            report.outOfOrder = report.applied.filter(difference.outOfOrder.contains)
        }
        return report
    }

    func status(of session: any SQLSession) throws(SQLError) -> SQLMigrationStatus {
        var ledger = SQLLedger(unreadIn: session, named: ledger)
        var difference = LedgerDifference(of: [], with: [])
        var changed = [Int64]()
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try ledger.readColumns()
            difference = LedgerDifference(of: try ledger.versions(), with: all)
            changed = try LedgerComparison(of: all, with: ledger).changed
        }
        return SQLMigrationStatus(
            hasMigrationsTable: ledger.exists,
            originVersion: difference.applied.first,
            currentVersion: difference.applied.last,
            applied: difference.applied,
            pending: difference.pending.map { all[$0].version },
            unknown: difference.unknown,
            outOfOrder: difference.outOfOrder,
            changed: changed
        )
    }

    func baseline(_ session: any SQLSession, at version: Int64) throws(SQLError) -> [Int64] {
        var recorded = [Int64]()
        try session.waiting(lockTimeout) { () throws(SQLError) in
            let isThere = try SQLLedger(reading: session, named: ledger).exists
            if isThere || version == 0 { return }
            try checkTarget(version)
            try session.transaction(wait: lockTimeout) { () throws(SQLError) in
                var ledger = try SQLLedger(reading: session, named: ledger)
                // Another process may have been faster.
                if ledger.exists { return }
                try ledger.createIfNeeded()
                for step in all where step.version <= version {
                    try ledger.record(step.version, name: step.name, checksum: try step.checksum())
                    recorded.append(step.version)
                }
            }
        }
        return recorded
    }

    /// The versions whose SQL is another one than when it was applied, in a ledger that is this migrator's.
    func ownChanges(in session: any SQLSession) throws(SQLError) -> [Int64] {
        let ledger = try SQLLedger(reading: session, named: ledger)
        let comparison = try LedgerComparison(of: all, with: ledger)
        try comparison.refuseOtherOwner(of: ledger)
        return comparison.changed
    }

    /// Whether the newest migration applied is recorded with another text.
    ///
    /// A start that has nothing to do compares this one: it reads one file at most, and a ledger that another migrator
    /// wrote differs here as everywhere.
    private func hasOtherText(
        newestOf difference: LedgerDifference,
        in session: any SQLSession
    ) throws(SQLError) -> Bool {
        guard let place = difference.newest else { return false }
        let newest = all[place]
        guard let then = try SQLLedger.checksum(of: newest.version, in: session, named: ledger) else {
            return false
        }
        return try newest.checksum() != then
    }

    private func checkTarget(_ target: Int64) throws(SQLError) {
        guard !all.contains(where: { $0.version == target }) else { return }
        throw SQLError(.unknownTarget, "No migration has the version \(target)")
    }
}

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

    func status(of session: any SQLSession) -> SQLWork<SQLMigrationStatus> {
        var hasLedger = false
        var difference = LedgerDifference(of: [], with: [])
        var changed = [Int64]()
        return session.waiting(lockTimeout) {
            SQLLedger.reading(session, named: ledger).then { ledger in
                hasLedger = ledger.exists
                return ledger.versions().then { versions in
                    difference = LedgerDifference(of: versions, with: all)
                    return LedgerComparison.reading(ledger, beside: all).map { changed = $0.changed }
                }
            }
        }.map {
            SQLMigrationStatus(
                hasMigrationsTable: hasLedger,
                originVersion: difference.applied.first,
                currentVersion: difference.applied.last,
                applied: difference.applied,
                pending: difference.pending.map { all[$0].version },
                unknown: difference.unknown,
                outOfOrder: difference.outOfOrder,
                changed: changed
            )
        }
    }

    func baseline(_ session: any SQLSession, at version: Int64) -> SQLWork<[Int64]> {
        var recorded = [Int64]()
        return session.waiting(lockTimeout) {
            SQLLedger.reading(session, named: ledger).then { before in
                if before.exists || version == 0 { return .nothing }
                try checkTarget(version)
                return session.transaction(SQLLockWait(lockTimeout)) {
                    SQLLedger.reading(session, named: ledger).then { found in
                        // Another process may have been faster.
                        if found.exists { return .nothing }
                        let steps = all.filter { $0.version <= version }
                        recorded = steps.map(\.version)
                        return found.made().then { record(steps[...], in: $0) }
                    }
                }
            }
        }.map { recorded }
    }

    private func record(_ steps: ArraySlice<SQLStep>, in ledger: SQLLedger) -> SQLWork<Void> {
        guard let step = steps.first else { return .nothing }
        return .trying {
            ledger.record(step.version, name: step.name, checksum: try step.checksum())
                .then { record(steps.dropFirst(), in: ledger) }
        }
    }

    /// The versions whose SQL is another one than when it was applied, in a ledger that is this migrator's.
    func ownChanges(in session: any SQLSession) -> SQLWork<[Int64]> {
        SQLLedger.reading(session, named: ledger)
            .then { LedgerComparison.reading($0, beside: all) }
            .then { $0.refusingOtherOwner() }
            .map(\.changed)
    }

    /// Whether the newest migration applied is recorded with another text.
    ///
    /// A start that has nothing to do compares this one: it reads one file at most, and a ledger that another migrator
    /// wrote differs here as everywhere.
    func hasOtherText(newestOf difference: LedgerDifference, in session: any SQLSession) -> SQLWork<Bool> {
        guard let place = difference.newest else { return .done(false) }
        let newest = all[place]
        return SQLLedger.checksum(of: newest.version, in: session, named: ledger).map { then in
            guard let then else { return false }
            return try newest.checksum() != then
        }
    }

    func checkTarget(_ target: Int64) throws(SQLError) {
        guard !all.contains(where: { $0.version == target }) else { return }
        throw SQLError(.unknownTarget, "No migration has the version \(target)")
    }
}

/// The transactions of a run, from BEGIN to COMMIT.
extension SQLMigrationRun {
    /// Runs every migration in a transaction of its own, or all in one.
    func runAll() throws(SQLError) {
        let isOneTransaction = steps.isOneTransaction && !insideTransaction
        for index in isOneTransaction ? 0..<1 : pending.indices {
            let group = isOneTransaction ? pending[...] : pending[index...index]
            try run(group, isLast: group.endIndex == pending.endIndex)
            try checkAnswer(.stop)
        }
    }

    /// Runs migrations in one transaction, or a single migration outside of any.
    ///
    /// The last transaction is durable, and with it all before it. A runner records that `migrate` returned.
    /// If this record survives a power failure, the migrations must survive it as well.
    private func run(_ group: ArraySlice<Pending>, isLast: Bool) throws(SQLError) {
        let appliedBefore = report.applied
        let appliedByOthersBefore = appliedByOthers
        var hasBegun = false
        var isCommitted = false
        func perform() throws(SQLError) {
            hasBegun = true
            for next in group where answer == .continue {
                try self.perform(next, sharesTransaction: group.count > 1)
            }
            try checkAnswer(.rollBack)
        }
        func transact() throws(SQLError) {
            try checkCancellation()
            try session.transaction(lock, durably: isLast, perform)
            isCommitted = true
        }
        do throws(SQLError) {
            if let next = group.first, next.isAlone {
                hasBegun = true
                try runAlone(next)
            } else if insideTransaction {
                try session.db.inSavepoint(perform)
            } else {
                try isLast ? session.lasting(durably: true, transact) : transact()
            }
        } catch {
            if !isCommitted {
                report.applied = appliedBefore
                appliedByOthers = appliedByOthersBefore
            }
            throw failure(error, of: group.count == 1 ? group.first : nil, blamesFile: hasBegun)
        }
    }

    /// Runs one migration and writes it to the ledger, unless another process has done so since the ledger
    /// was read.
    private func perform(_ next: Pending, sharesTransaction: Bool) throws(SQLError) {
        do throws(SQLError) {
            try checkCancellation()
            let dataVersion = try session.dataVersion()
            if try isApplied(next, at: dataVersion) { return }
            report.dangling = try checking(dataVersion) { () throws(SQLError) in
                guard let script = next.script else {
                    return try session.behindSavepoint { () throws(SQLError) in
                        try call(.closure(next.place, progress(of: next, fraction: 0)))
                    }
                }
                try watchingLedger { () throws(SQLError) in
                    try session.run(script: script, sharesTransaction: sharesTransaction)
                }
            }
            try record(next)
        } catch { throw failure(error, of: next) }
    }

    /// Runs a statement outside of a transaction and then records it, so that it runs at least once.
    private func runAlone(_ next: Pending) throws(SQLError) {
        try session.runAlone(
            next.script ?? "",
            as: "\(steps.ledger) \(next.step.version)",
            lock,
            isApplied: { () throws(SQLError) in try isApplied(next, at: nil) }
        ) { () throws(SQLError) in
            if try !isApplied(next, at: nil) { try record(next) }
            try checkAnswer(.rollBack)
        }
    }

    /// True if another process has run the migration since the ledger was read.
    ///
    /// The caller holds the lock.
    ///
    /// Throws if that process has other migrations than this one.
    private func isApplied(_ next: Pending, at dataVersion: Int64?) throws(SQLError) -> Bool {
        try ledger.make()
        guard try ledger.hasApplied(next.step.version, at: dataVersion) else {
            // Another release may have applied a later version since this call read the ledger.
            if steps.refusesOutOfOrder {
                try ledger.readVersions()
                try refuse(next.step, below: ledger.versions.last)
            }
            return false
        }
        appliedByOthers += 1
        if try ledger.checksum(of: next.step.version) != next.checksum {
            try ledger.refuseOtherOwner(than: steps.all)
        }
        return true
    }

    /// Writes a migration to the ledger, and reports it.
    private func record(_ next: Pending) throws(SQLError) {
        let step = next.step
        try ledger.record(step.version, name: step.name, checksum: next.checksum)
        report.applied.append(step.version)
        try call(.progress(progress(of: next, fraction: 1)))
    }

    private func progress(of next: Pending, fraction: Double) -> SQLMigrationProgress {
        SQLMigrationProgress(
            completed: report.applied.count,
            total: pending.count - appliedByOthers,
            version: next.step.version,
            name: next.step.name,
            fraction: fraction
        )
    }
}

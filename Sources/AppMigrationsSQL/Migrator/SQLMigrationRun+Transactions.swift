/// The transactions of a run, from BEGIN to COMMIT.
extension SQLMigrationRun {
    /// Runs every migration in a transaction of its own, or all in one.
    func runAll() throws(SQLError) {
        let isOneTransaction = steps.isOneTransaction && !insideTransaction
        let groups = isOneTransaction ? [pending[...]] : pending.indices.map { pending[$0...$0] }
        for group in groups {
            try run(group, isLast: group.endIndex == pending.endIndex)
            try throwIfStopped()
        }
    }

    /// Runs migrations in one transaction, or a single migration outside of any transaction.
    ///
    /// When `migrate` has returned, its caller may record that elsewhere, for example in a state file. If
    /// that record survives a power failure, the migrations must survive it as well. So the last transaction
    /// is durable, which makes the earlier ones durable too.
    private func run(_ group: ArraySlice<Pending>, isLast: Bool) throws(SQLError) {
        let appliedBefore = report.applied
        let appliedByOthersBefore = appliedByOthers
        var hasBegun = false
        var isCommitted = false
        func performGroup() throws(SQLError) {
            hasBegun = true
            for next in group where answer == .continue {
                try perform(next, sharesTransaction: group.count > 1)
            }
            try throwIfRolledBack()
        }
        func performGroupInTransaction() throws(SQLError) {
            try checkCancellation()
            try session.transaction(lockWait, durably: isLast, performGroup)
            isCommitted = true
        }
        do throws(SQLError) {
            if let next = group.first, next.runsOutsideTransaction {
                hasBegun = true
                try runOutsideTransaction(next)
            } else if insideTransaction {
                try session.db.inSavepoint(performGroup)
            } else if isLast {
                try session.withCommits(durable: true, performGroupInTransaction)
            } else {
                try performGroupInTransaction()
            }
        } catch {
            if !isCommitted {
                report.applied = appliedBefore
                appliedByOthers = appliedByOthersBefore
            }
            throw failure(error, of: group.count == 1 ? group.first : nil, namingFile: hasBegun)
        }
    }

    /// Runs one migration and writes it to the ledger, unless another process has done so since the ledger
    /// was read.
    private func perform(_ next: Pending, sharesTransaction: Bool) throws(SQLError) {
        do throws(SQLError) {
            try checkCancellation()
            let dataVersion = try session.dataVersion()
            if try skipIfApplied(next, at: dataVersion) { return }
            let versions = ledger.versions
            report.remainingViolations = try checking(dataVersion) { () throws(SQLError) in
                guard let script = next.script else {
                    return try session.guardingTransaction { () throws(SQLError) in
                        try callBack(.closure(index: next.index, progress(of: next, fraction: 0)))
                    }
                }
                try watchingLedger { () throws(SQLError) in
                    try session.run(script: script, sharesTransaction: sharesTransaction)
                }
            }
            let others = versions + report.applied
            // If the connection can tell that the migration didn't write to the ledger, nothing has to be
            // read.
            if ledger.dataVersionOfVersions == nil { try ledger.requireVersions(others, after: next.script) }
            try record(next, keeping: others)
        } catch { throw failure(error, of: next) }
    }

    /// Runs a statement outside of a transaction, and then records it.
    ///
    /// If the process ends between the two, the next start runs the statement again.
    private func runOutsideTransaction(_ next: Pending) throws(SQLError) {
        try session.runOutsideTransaction(
            next.script ?? "",
            as: "\(steps.ledger) \(next.step.version)",
            lockWait,
            isApplied: { () throws(SQLError) in try skipIfApplied(next, at: nil) }
        ) { () throws(SQLError) in
            if try !skipIfApplied(next, at: nil) { try record(next) }
            try throwIfRolledBack()
        }
    }

    /// Returns true if another process has run a migration since this call read the ledger, and counts it.
    ///
    /// Call it with the lock held. If the ledger is missing, it is created.
    ///
    /// Throws if the ledger turns out to be another migrator's. Also throws if another process has applied a
    /// newer version, and this migrator refuses migrations out of order.
    private func skipIfApplied(_ next: Pending, at dataVersion: Int64?) throws(SQLError) -> Bool {
        try ledger.createIfMissing()
        guard try ledger.hasApplied(next.step.version, at: dataVersion) else {
            // Another release may have applied a newer version since this call read the ledger.
            if steps.refusesOutOfOrder {
                try ledger.readVersions()
                try refuseIfOutOfOrder(next.step, newest: ledger.versions.last)
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
    private func record(_ next: Pending, keeping others: [Int64] = []) throws(SQLError) {
        let step = next.step
        try ledger.record(step.version, name: step.name, checksum: next.checksum, keeping: others)
        report.applied.append(step.version)
        try callBack(.progress(progress(of: next, fraction: 1)))
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

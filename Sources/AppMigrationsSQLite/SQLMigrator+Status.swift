extension SQLMigrator {
    /// Compares the database with the migrations of this app, and changes nothing.
    ///
    /// - Parameter db: A connection.
    /// - Returns: What is applied, pending, unknown, out of order and changed.
    /// - Throws: ``SQLError``: of the database, or of a file that can't be read. A status is never made up.
    public func status(_ db: Connection) throws(SQLError) -> SQLMigrationStatus {
        try Connection.dialect.waiting(lockTimeout, on: db) { () throws(SQLError) in
            let ledger = try SQLLedger(reading: db, named: self.ledger)
            let comparison = Comparison(of: try ledger.versions(), with: migrations)
            let applied = comparison.applied
            return SQLMigrationStatus(
                hasMigrationsTable: ledger.exists,
                originVersion: applied.first,
                currentVersion: applied.last,
                applied: applied,
                pending: comparison.pending.map(\.version),
                unknown: comparison.unknown,
                outOfOrder: comparison.outOfOrder,
                changed: try LedgerComparison(of: migrations, with: ledger).changed
            )
        }
    }

    /// The versions whose SQL is another one than when it was applied, in a ledger that is this migrator's.
    func ownChanges(in db: Connection) throws(SQLError) -> [Int64] {
        let ledger = try SQLLedger(reading: db, named: ledger)
        let comparison = try LedgerComparison(of: migrations, with: ledger)
        try comparison.refuseOtherOwner(of: ledger)
        return comparison.changed
    }

    /// Whether the newest migration applied is recorded with another text.
    ///
    /// A start that has nothing to do compares this one: it reads one file at most, and a ledger that another migrator
    /// wrote differs here as everywhere.
    func hasOtherText(newestOf comparison: Comparison<Connection>, in db: Connection) throws(SQLError) -> Bool
    {
        guard let newest = comparison.newest.map({ migrations[$0] }) else { return false }
        guard let then = try SQLLedger.checksum(of: newest.version, in: db, named: ledger) else {
            return false
        }
        return try newest.checksum() != then
    }

    /// Records every migration up to a version as applied, without running one, where there is no ledger yet.
    ///
    /// It is for a database whose schema another library numbered. With the numbering of `user_version`
    /// that is `try migrator.baseline(db, at: db.userVersion)` before every `migrate`; once there is a
    /// ledger, and at version 0, it does nothing.
    ///
    /// - Parameters:
    ///   - db: A connection that is not in a transaction.
    ///   - version: The version of a migration, or 0.
    /// - Returns: The versions recorded.
    /// - Throws: ``SQLError``; a version that no migration has is ``SQLError/Code/unknownTarget``.
    @discardableResult
    public func baseline(_ db: Connection, at version: Int64) throws(SQLError) -> [Int64] {
        let dialect = Connection.dialect
        return try dialect.waiting(lockTimeout, on: db) { () throws(SQLError) in
            var ledger = try SQLLedger(reading: db, named: self.ledger)
            if ledger.exists || version == 0 { return [] }
            try checkTarget(version)
            let recorded = migrations.filter { $0.version <= version }
            try dialect.begin(db, wait: lockTimeout)
            do throws(SQLError) {
                // Another starter may have been faster.
                let isNew = !(try SQLLedger(reading: db, named: self.ledger).exists)
                try ledger.createIfNeeded()
                for migration in recorded where isNew {
                    try ledger.record(
                        migration.version,
                        name: migration.name,
                        checksum: try migration.checksum()
                    )
                }
                try SQLError.wrapping { try db.query("COMMIT") }
                return isNew ? recorded.map(\.version) : []
            } catch {
                throw dialect.rollingBack(db, after: error)
            }
        }
    }

    func checkTarget(_ target: Int64) throws(SQLError) {
        guard !migrations.contains(where: { $0.version == target }) else { return }
        throw SQLError(.unknownTarget, "No migration has the version \(target)")
    }
}

/// The versions of a ledger beside the migrations of an app, both in order.
struct Comparison<Connection: SQLConnection> {
    let applied: [Int64]
    private(set) var pending = [SQLMigration<Connection>]()
    private(set) var unknown = [Int64]()
    /// Where the last migration that is applied is.
    private(set) var newest: Int?

    @_specialize(where Connection == SQLiteConnection)
    init(of versions: [Int64], with migrations: [SQLMigration<Connection>]) {
        applied = versions
        var index = 0
        for (place, migration) in migrations.enumerated() {
            while index < versions.count, versions[index] < migration.version {
                unknown.append(versions[index])
                index += 1
            }
            if index < versions.count, versions[index] == migration.version {
                while index < versions.count, versions[index] == migration.version { index += 1 }
                newest = place
            } else {
                pending.append(migration)
            }
        }
        unknown.append(contentsOf: versions[index...])
    }

    /// Those pending that lie below the newest applied.
    var outOfOrder: [Int64] {
        guard let newest = applied.last else { return [] }
        return pending.map(\.version).filter { $0 < newest }
    }
}

extension SQLMigrator {
    /// Compares the database with the migrations of this app, and changes nothing.
    ///
    /// - Parameter db: A connection.
    /// - Returns: What is applied, pending, unknown, out of order and changed.
    /// - Throws: ``SQLError``: of the database, or of a file that can't be read. A status is never made up.
    public func status(_ db: Connection) throws(SQLError) -> SQLMigrationStatus {
        try Connection.dialect.waiting(lockTimeout, on: db) { () throws(SQLError) in
            let ledger = try SQLLedger(reading: db)
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
                changed: try changed(try ledger.checksums())
            )
        }
    }

    private func changed(_ checksums: [(version: Int64, checksum: String)]) throws(SQLError) -> [Int64] {
        var byVersion = [Int64: SQLMigration<Connection>]()
        for migration in migrations { byVersion[migration.version] = migration }
        var changed = [Int64]()
        for (version, checksum) in checksums {
            guard let now = try byVersion[version]?.checksum() else { continue }
            if now != checksum { changed.append(version) }
        }
        return changed
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
            var ledger = try SQLLedger(reading: db)
            if ledger.exists || version == 0 { return [] }
            try checkTarget(version)
            let recorded = migrations.filter { $0.version <= version }
            try dialect.begin(db, wait: lockTimeout)
            do throws(SQLError) {
                // Another starter may have been faster.
                let isNew = !(try SQLLedger(reading: db).exists)
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

    @_specialize(where Connection == SQLiteConnection)
    init(of versions: [Int64], with migrations: [SQLMigration<Connection>]) {
        applied = versions
        var index = 0
        for migration in migrations {
            while index < versions.count, versions[index] < migration.version {
                unknown.append(versions[index])
                index += 1
            }
            if index < versions.count, versions[index] == migration.version {
                while index < versions.count, versions[index] == migration.version { index += 1 }
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

internal import AppMigrationsSQLite

extension SQLiteStore {
    /// How thoroughly a database is looked through for damage.
    ///
    /// A row that breaks a constraint is no damage.
    public enum Check: Sendable, Hashable {
        /// Not at all.
        case off

        /// Every page and every row, but not whether the indexes say the same (`PRAGMA quick_check`), and the
        /// foreign keys where a migration is checked.
        case quick

        /// Everything (`PRAGMA integrity_check`), and the foreign keys where a migration is checked.
        case full
    }
}

extension SQLiteStore.Check {
    private var pragma: String? {
        switch self {
        case .off: nil
        case .quick: "quick_check"
        case .full: "integrity_check"
        }
    }

    /// The damage that SQLite finds, in its words; `nil` where nothing is wrong or nothing is to be checked.
    func damage(of db: SQLiteConnection) throws(SQLError) -> String? {
        guard let pragma else { return nil }
        return try Complaints(pragma, of: db, limit: 100).damage
    }

    /// All that SQLite complains about, and is so.
    func complaints(about db: SQLiteConnection) throws(SQLError) -> Complaints {
        guard let pragma else { return Complaints() }
        do throws(SQLError) {
            var complaints = try Complaints(pragma, of: db, limit: .max)
            try complaints.dropFalseOnes(of: db)
            return complaints
        } catch {
            if ResultKind(error) == .corrupt { return Complaints(error) }
            throw error
        }
    }
}

extension SQLiteStore {
    /// How thoroughly a database is looked through for damage.
    public enum Check: Sendable, Hashable {
        /// Not at all.
        case none

        /// Every page and every row, but not whether the indexes say the same (`PRAGMA quick_check`), and the
        /// foreign keys where a migration is checked.
        case quick

        /// Everything (`PRAGMA integrity_check`), and the foreign keys where a migration is checked.
        case full
    }
}

extension SQLiteStore.Check {
    /// What SQLite found, `nil` where nothing is wrong or nothing is to be checked.
    func complaint(about db: SQLiteConnection) throws(SQLError) -> String? {
        let pragma: String
        switch self {
        case .none: return nil
        case .quick: pragma = "quick_check"
        case .full: pragma = "integrity_check"
        }
        // A few complaints are enough to know that it is broken.
        let rows = try db.query("PRAGMA \(pragma)(3)")
        if rows == [["ok"]] { return nil }
        return rows.map { row in
            if case .text(let text) = row.first { text } else { "\(row)" }
        }
        .joined(separator: "; ")
    }
}

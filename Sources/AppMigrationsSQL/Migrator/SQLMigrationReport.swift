/// The report of one call of `migrate`.
public struct SQLMigrationReport: Sendable {
    /// The versions that this call applied, in order.
    ///
    /// Another process may have applied others meanwhile.
    public internal(set) var applied = [Int64]()

    /// The versions of `applied` that lie below a version applied before.
    public internal(set) var outOfOrder = [Int64]()

    /// Versions in the database that this app does not have: a newer release made or changed it.
    public internal(set) var unknown = [Int64]()

    /// Versions whose SQL is another one than when it was applied, as `SQLMigrationStatus.changed` has them.
    ///
    /// A call that finds nothing pending compares the newest migration, and all of them where the newest differs. So it reads
    /// one file and not every file at every start; a test of the app asks `status` for the rest.
    public internal(set) var changed = [Int64]()

    /// Rows of an SQLite database that refer to none, and did so before this call: a sentence for each table, with the first
    /// three of its rows.
    ///
    /// A copy by hand with foreign keys on leaves such rows, and so does whatever writes with foreign keys off. Nothing is done
    /// about them. A call that runs migrations tells, where foreign keys are on and `insideTransaction:` is not given.
    public internal(set) var dangling = [String]()
}

extension SQLMigrationReport: CustomStringConvertible {
    /// The report in a line.
    ///
    /// `Applied: 4, 5. Out of order: 4.`
    public var description: String {
        if applied.isEmpty && unknown.isEmpty && changed.isEmpty { return "Nothing was pending." }
        let lists = SQLMigrationStatus.line([
            ("Applied", SQLMigrationStatus.labels(applied)),
            ("Out of order", SQLMigrationStatus.labels(outOfOrder)),
            ("Edited after it was applied", SQLMigrationStatus.labels(changed)),
            ("Unknown", SQLMigrationStatus.labels(unknown)),
        ])
        return dangling.isEmpty
            ? lists : "\(lists) Rows that refer to missing rows: \(dangling.joined(separator: "; "))."
    }
}

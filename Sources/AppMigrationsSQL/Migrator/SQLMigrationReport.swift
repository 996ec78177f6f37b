/// The result of one call of `migrate`.
public struct SQLMigrationReport: Sendable {
    /// The versions that this call applied, in order.
    ///
    /// Another process may have applied other versions at the same time.
    public internal(set) var applied = [Int64]()

    /// The versions of `applied` that are below a version that was applied before this call.
    public internal(set) var outOfOrder = [Int64]()

    /// Versions in the database that this app does not have: a newer release created or changed it.
    public internal(set) var unknown = [Int64]()

    /// Versions whose SQL was edited after it was applied, as in `SQLMigrationStatus.changed`.
    ///
    /// If nothing is pending, a call only compares the newest applied migration, and all of them if the
    /// newest one was edited. So it reads one file at every start, and not every file. In a test of the app,
    /// use `status`, which compares all.
    public internal(set) var changed = [Int64]()

    /// Rows of an SQLite database that refer to missing rows, and did so before this call: a sentence for
    /// each table, with the first three of its rows.
    ///
    /// Such rows are left by a copy by hand while foreign keys are on, and by any write while foreign keys
    /// are off. Nothing is done about them. They are only reported by a call that runs migrations, while
    /// foreign keys are on and without `insideTransaction:`.
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

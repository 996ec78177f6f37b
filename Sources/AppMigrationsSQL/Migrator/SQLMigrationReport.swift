/// The result of one call of `migrate`.
public struct SQLMigrationReport: Sendable {
    /// The versions that this call applied, in order.
    ///
    /// Another process may have applied other versions at the same time.
    public internal(set) var applied = [Int64]()

    /// The versions of `applied` that are below a version that was applied before this call.
    public internal(set) var outOfOrder = [Int64]()

    /// Applied versions for which this app has no migration: a newer release created or changed the database.
    public internal(set) var unknownVersions = [Int64]()

    /// Versions whose SQL was edited after it was applied, as in `SQLMigrationStatus.editedVersions`.
    ///
    /// At a start with nothing pending, `migrate` reads the file of one migration only: the newest one that
    /// was applied. If that file was edited, it compares all of them. `status` always compares all of them,
    /// so use `status` in a test of the app.
    public internal(set) var editedVersions = [Int64]()

    /// Rows of an SQLite database that already referred to missing rows before this call.
    ///
    /// There is a sentence for each table, with the first three of its rows.
    ///
    /// Any write while foreign keys are off can leave such rows, for example if they were off while a table
    /// was copied by hand. The migrator doesn't change them. It reports them if the call runs migrations,
    /// foreign keys are on and `insideTransaction` is false.
    public internal(set) var remainingViolations = [String]()
}

extension SQLMigrationReport: CustomStringConvertible {
    /// The report in a line.
    ///
    /// `Applied: 4, 5. Out of order: 4.`
    public var description: String {
        if applied.isEmpty && unknownVersions.isEmpty && editedVersions.isEmpty {
            return "Nothing was pending."
        }
        let lists = SQLMigrationStatus.line([
            ("Applied", SQLMigrationStatus.labels(applied)),
            ("Out of order", SQLMigrationStatus.labels(outOfOrder)),
            ("Edited after it was applied", SQLMigrationStatus.labels(editedVersions)),
            ("Unknown", SQLMigrationStatus.labels(unknownVersions)),
        ])
        return remainingViolations.isEmpty
            ? lists
            : "\(lists) Rows that refer to missing rows: \(remainingViolations.joined(separator: "; "))."
    }
}

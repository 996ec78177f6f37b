/// How far a database's schema is, compared with the migrations of this app.
public struct SQLMigrationStatus: Sendable, Equatable {
    /// True if the database has the ledger, the table `schema_migrations` unless the migrator has another.
    public let hasMigrationsTable: Bool

    /// The oldest version applied.
    public let originVersion: Int64?

    /// The newest version applied.
    public let currentVersion: Int64?

    /// Every version applied, in order.
    public let applied: [Int64]

    /// The versions that the next `migrate` runs, in order.
    public let pending: [Int64]

    /// Versions applied that this app does not have: a newer release made or changed the database.
    public let unknown: [Int64]

    /// Pending versions below the newest applied: late ones, from a branch for instance.
    ///
    /// They run.
    public let outOfOrder: [Int64]

    /// Versions whose SQL is another one than when it was applied.
    ///
    /// Nothing is done about it: the database has what the old text made. Versions without a checksum, of
    /// closures and of a ledger that another library made, are never in it.
    public let changed: [Int64]
}

/// The report of one call of `migrate`.
public struct SQLMigrationReport: Sendable {
    /// The versions that this call applied, in order.
    ///
    /// Another process may have applied others meanwhile.
    public internal(set) var applied = [Int64]()

    /// Those of `applied` that lie below a version applied before.
    public internal(set) var outOfOrder = [Int64]()

    /// Versions in the database that this app does not have: a newer release made or changed it.
    public internal(set) var unknown = [Int64]()

    /// Versions whose SQL is another one than when it was applied, as `SQLMigrationStatus.changed` has them.
    ///
    /// A call that finds nothing pending compares the newest migration, and all of them where the newest differs. So it reads
    /// one file and not every file at every start; a test of the app asks `status` for the rest.
    public internal(set) var changed = [Int64]()
}

extension SQLMigrationReport: CustomStringConvertible {
    /// The report in a line.
    ///
    /// `Applied: 4, 5. Out of order: 4.`
    public var description: String {
        applied.isEmpty && unknown.isEmpty && changed.isEmpty
            ? "Nothing was pending."
            : SQLMigrationStatus.line([
                ("Applied", applied), ("Out of order", outOfOrder), ("Edited after it was applied", changed),
                ("Unknown", unknown),
            ])
    }
}

extension SQLMigrationStatus: CustomStringConvertible {
    /// How far the schema is, in a line.
    ///
    /// `At version 3. Applied: 1, 2, 3. Pending: 4, 5.`
    public var description: String {
        guard let currentVersion else {
            return (hasMigrationsTable ? "Nothing applied. " : "No ledger. ")
                + Self.line([("Pending", pending)])
        }
        return "At version \(currentVersion). "
            + Self.line([
                ("Applied", applied), ("Pending", pending), ("Out of order", outOfOrder),
                ("Edited after it was applied", changed), ("Unknown", unknown),
            ])
    }

    /// The lists that have something; the first one always.
    fileprivate static func line(_ lists: [(title: String, versions: [Int64])]) -> String {
        var sentences = [String]()
        for (title, versions) in lists where sentences.isEmpty || !versions.isEmpty {
            let list = versions.isEmpty ? "none" : versions.map(String.init).joined(separator: ", ")
            sentences.append("\(title): \(list).")
        }
        return sentences.joined(separator: " ")
    }
}

extension SQLMigration: CustomStringConvertible {
    /// The file, or the version with the name: `4 (folders)`.
    public var description: String { step.label }
}

extension SQLMigrationProgress: CustomStringConvertible {
    /// How many are done, and the migration that was just run: `2 of 5: 4 (folders)`.
    public var description: String {
        "\(completed) of \(total): \(version)" + (name.map { " (\($0))" } ?? "")
    }
}

extension SQLMigrationReport: CustomStringConvertible {
    /// What the call did, in a line.
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

/// The versions of a database's schema, compared with the migrations of this app.
public struct SQLMigrationStatus: Sendable, Equatable {
    /// True if the database has the migrator's ledger, which is the table `schema_migrations` by default.
    public let hasMigrationsTable: Bool

    /// The oldest applied version.
    public let originVersion: Int64?

    /// The newest applied version.
    public let latestAppliedVersion: Int64?

    /// Every applied version, in order.
    public let applied: [Int64]

    /// The versions that the next `migrate` runs, in order.
    public let pending: [Int64]

    /// The names of the pending migrations by their versions.
    ///
    /// Migrations without a name are left out.
    public var pendingNames: [Int64: String] {
        var names: [Int64: String] = [:]
        for index in pendingIndexes { names[steps.all[index].version] = steps.all[index].name }
        return names
    }

    /// Applied versions for which this app has no migration: a newer release created or changed the database.
    public let unknownVersions: [Int64]

    /// Pending versions below the newest applied version, for example from a branch that was merged late.
    ///
    /// They run, unless the migrator refuses them.
    public let outOfOrder: [Int64]

    /// Versions whose SQL was edited after it was applied.
    ///
    /// The database has the result of the old text, and nothing is done about it. Only versions with a
    /// checksum are compared. A migration with a closure has none, and neither has a row of a ledger that
    /// another library created.
    public let editedVersions: [Int64]

    /// The indexes of the pending migrations in ``steps``.
    let pendingIndexes: [Int]

    /// The migrations of the app.
    ///
    /// ``pendingNames`` is computed from them when it is read, because building a dictionary takes as long as
    /// everything else in a `migrate` that has nothing to run.
    private let steps: ComparableSteps

    /// Makes a status equatable: two lists of migrations are equal if their labels are.
    private struct ComparableSteps: Sendable, Equatable {
        let all: [SQLStep]

        static func == (left: Self, right: Self) -> Bool { left.all.map(\.label) == right.all.map(\.label) }
    }

    /// Compares the versions of a ledger with the migrations of an app.
    ///
    /// Both lists are in the order of their versions.
    init(of ledger: SQLLedger, with steps: [SQLStep]) {
        let versions = ledger.versions
        var pendingIndexes = [Int]()
        var unknown = [Int64]()
        // The index of the next version of the ledger.
        var next = 0
        for index in steps.indices {
            let version = steps[index].version
            while next < versions.count, versions[next] < version {
                unknown.append(versions[next])
                next += 1
            }
            if next == versions.count || versions[next] > version { pendingIndexes.append(index) }
            while next < versions.count, versions[next] == version { next += 1 }
        }
        hasMigrationsTable = ledger.exists
        originVersion = versions.first
        latestAppliedVersion = versions.last
        applied = versions
        pending = pendingIndexes.map { steps[$0].version }
        unknownVersions = unknown + versions[next...]
        outOfOrder = pending.filter { $0 < versions.last ?? 0 }
        editedVersions = ledger.editedVersions
        self.pendingIndexes = pendingIndexes
        self.steps = ComparableSteps(all: steps)
    }
}

extension SQLMigrationStatus: CustomStringConvertible {
    /// The status in a line.
    ///
    /// `At version 3. Applied: 1, 2, 3. Pending: 4 (folders), 5.`
    public var description: String {
        guard let latestAppliedVersion else {
            return (hasMigrationsTable ? "Nothing applied. " : "No ledger. ")
                + Self.line([("Pending", pendingLabels)])
        }
        return "At version \(latestAppliedVersion). "
            + Self.line([
                ("Applied", Self.labels(applied)), ("Pending", pendingLabels),
                ("Out of order", Self.labels(outOfOrder)),
                ("Edited after it was applied", Self.labels(editedVersions)),
                ("Unknown", Self.labels(unknownVersions)),
            ])
    }

    private var pendingLabels: [String] {
        let names = pendingNames
        return pending.map { version in names[version].map { "\(version) (\($0))" } ?? "\(version)" }
    }

    static func labels(_ versions: [Int64]) -> [String] { versions.map(\.description) }

    /// A line with a sentence for each list that isn't empty.
    ///
    /// The first list always has a sentence, which says "none" if the list is empty.
    static func line(_ lists: [(title: String, labels: [String])]) -> String {
        var sentences = [String]()
        for (title, labels) in lists where !labels.isEmpty || sentences.isEmpty {
            let list = labels.isEmpty ? "none" : labels.joined(separator: ", ")
            sentences.append("\(title): \(list).")
        }
        return sentences.joined(separator: " ")
    }
}

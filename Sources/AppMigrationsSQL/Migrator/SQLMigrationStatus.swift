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

    /// The names of the pending migrations that have one, by their versions.
    public var pendingNames: [Int64: String] {
        var names: [Int64: String] = [:]
        for place in places { names[steps.all[place].version] = steps.all[place].name }
        return names
    }

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

    /// The places of the pending migrations among ``steps``.
    let places: [Int]

    /// The migrations of the app.
    ///
    /// The names of the pending ones are found only when they are asked for. To build a dictionary takes as long as the rest of an
    /// idle check.
    private let steps: ComparableSteps

    private struct ComparableSteps: Sendable, Equatable {
        let all: [SQLStep]

        static func == (left: Self, right: Self) -> Bool { left.all.map(\.label) == right.all.map(\.label) }
    }

    /// The versions of a ledger beside the migrations of an app, both in order.
    init(of ledger: SQLLedger, with steps: [SQLStep]) {
        let versions = ledger.versions
        var (places, unknown, index) = ([Int](), [Int64](), 0)
        for place in steps.indices {
            let version = steps[place].version
            while index < versions.count, versions[index] < version {
                unknown.append(versions[index])
                index += 1
            }
            if index == versions.count || versions[index] > version { places.append(place) }
            while index < versions.count, versions[index] == version { index += 1 }
        }
        hasMigrationsTable = ledger.exists
        (originVersion, currentVersion, applied) = (versions.first, versions.last, versions)
        pending = places.map { steps[$0].version }
        self.unknown = unknown + versions[index...]
        outOfOrder = pending.filter { $0 < versions.last ?? 0 }
        changed = ledger.changed
        self.places = places
        self.steps = ComparableSteps(all: steps)
    }
}

extension SQLMigrationStatus: CustomStringConvertible {
    /// How far the schema is, in a line.
    ///
    /// `At version 3. Applied: 1, 2, 3. Pending: 4 (folders), 5.`
    public var description: String {
        guard let currentVersion else {
            return (hasMigrationsTable ? "Nothing applied. " : "No ledger. ")
                + Self.line([("Pending", pendingLabels)])
        }
        return "At version \(currentVersion). "
            + Self.line([
                ("Applied", Self.labels(applied)), ("Pending", pendingLabels),
                ("Out of order", Self.labels(outOfOrder)),
                ("Edited after it was applied", Self.labels(changed)), ("Unknown", Self.labels(unknown)),
            ])
    }

    private var pendingLabels: [String] {
        let names = pendingNames
        return pending.map { version in names[version].map { "\(version) (\($0))" } ?? "\(version)" }
    }

    static func labels(_ versions: [Int64]) -> [String] { versions.map(\.description) }

    /// A sentence for the first list, and for each other one that isn't empty.
    static func line(_ lists: [(title: String, labels: [String])]) -> String {
        var sentences = [String]()
        for (title, labels) in lists where !labels.isEmpty || sentences.isEmpty {
            let list = labels.isEmpty ? "none" : labels.joined(separator: ", ")
            sentences.append("\(title): \(list).")
        }
        return sentences.joined(separator: " ")
    }
}

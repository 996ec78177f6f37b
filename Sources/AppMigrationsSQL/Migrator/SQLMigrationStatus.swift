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

/// How far a run is, told after each migration that it ran, and each time a migration's closure reports.
public struct SQLMigrationProgress: Sendable {
    /// How many migrations this call has run, this one included once its ``fraction`` is 1.
    public let completed: Int

    /// How many migrations this call runs, as far as it knows.
    ///
    /// The ones that another process ran meanwhile are no longer counted.
    public let total: Int

    /// The version of the migration that this call runs or just ran.
    public let version: Int64

    /// Its name.
    public let name: String?

    /// How much of this migration is done, from 0 to 1: what its closure reported, and 1 when it has run.
    public internal(set) var fraction: Double

    /// The progress of a closure that reports `fraction` of its own work.
    func reporting(_ fraction: Double) -> SQLMigrationProgress {
        var progress = self
        progress.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        return progress
    }

    /// The answer to what should happen after a migration.
    ///
    /// To a closure that reports, `continue` alone lets it go on: each other one ends
    /// it, and its migration is undone, with ``SQLMigrator/Transactions/all`` every one before it.
    public enum Answer: Sendable, Hashable {
        /// Commit it and run the next.
        case `continue`

        /// Commit it and run no other.
        case stop

        /// Undo it, and with ``SQLMigrator/Transactions/all`` every one before it, and run no other.
        case rollBack
    }
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

    fileprivate static func labels(_ versions: [Int64]) -> [String] { versions.map(\.description) }

    /// A sentence for the first list, and for each other one that isn't empty.
    fileprivate static func line(_ lists: [(title: String, labels: [String])]) -> String {
        var sentences = [String]()
        for (title, labels) in lists where !labels.isEmpty || sentences.isEmpty {
            let list = labels.isEmpty ? "none" : labels.joined(separator: ", ")
            sentences.append("\(title): \(list).")
        }
        return sentences.joined(separator: " ")
    }
}

extension SQLMigration: CustomStringConvertible {
    /// The file, or the version with the name: `4 (folders)`.
    public var description: String { step.label }
}

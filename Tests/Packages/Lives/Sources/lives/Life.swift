import AppMigrations
import Foundation

/// One install: which migrations its data has, beside what the library runs.
struct Life {
    let product: Product
    let directory: String

    /// The migrations that the data has, by their versions.
    private var applied: Set<AppVersion> = []
    private var newest: AppVersion?
    private(set) var counts = Counts()

    struct Counts {
        var starts = 0
        var runs = 0
        var downgrades = 0
        var refused = 0
        var missed: [String] = []
        var repeated: [String] = []

        static func += (left: inout Counts, right: Counts) {
            left.starts += right.starts
            left.runs += right.runs
            left.downgrades += right.downgrades
            left.refused += right.refused
            left.missed += right.missed
            left.repeated += right.repeated
        }
    }

    init(of product: Product, in directory: String) {
        self.product = product
        self.directory = directory
    }

    mutating func start(_ release: Product.Release) throws {
        counts.starts += 1
        if newest == nil {
            // A fresh install makes its data as this release needs it.
            applied = Set(release.migrations.map(\.version))
        }
        let isDowngrade = newest.map { release.version < $0 } ?? false
        if isDowngrade { counts.downgrades += 1 }
        var run: [AppVersion] = []
        do {
            let migrations = try MigrationManager(
                named: "Life",
                currentVersion: release.version.description,
                firstRun: .freshInstall,
                stateDirectory: directory
            )
            for migration in release.migrations {
                let version = migration.version
                try migrations.whenMigrating(
                    toVersion: version.description,
                    addedIn: migration.addedIn?.description
                ) { run.append(version) }
            }
        } catch {
            guard isDowngrade, error.code == .usedByNewerApp else { throw error }
            counts.refused += 1
        }
        newest = max(newest ?? release.version, release.version)
        counts.runs += run.count
        for version in run where !applied.insert(version).inserted {
            counts.repeated.append("\(product.name): \(version) at \(release.version)")
        }
        if isDowngrade { return }
        for migration in release.migrations where !applied.contains(migration.version) {
            counts.missed.append("\(product.name): \(migration.version) at \(release.version)")
            // It is told once.
            applied.insert(migration.version)
        }
    }
}

// swift-tools-version: 6.2

import PackageDescription

// The promise: what the pages say of speed holds as a ratio to a reference that runs beside it, such as a C program, `cp`, the
// sqlite3 library or GRDB: a start, a checkpoint, a replacement, a batch, a schema's plan. Without this, a start that becomes slow
// by one step with each declaration would pass each test. Only ratios are judged, since machines differ.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let root = "swift-app-migrations"
let migrations = Target.Dependency.product(name: "AppMigrations", package: root)
let sqlite = Target.Dependency.product(name: "AppMigrationsSQLite", package: root)
let schema = Target.Dependency.product(name: "AppMigrationsSchema", package: root)
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: root, path: "../../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // C for work that Swift can't do quietly: timers, processes, ptrace, and the calls that a start is held against.
        .target(name: "CMeasure"),
        .target(name: "CAllocations"),
        .target(name: "Measuring", dependencies: ["CMeasure"], swiftSettings: settings),
        // The children: an empty program, a start, a start that measures itself, and what a user would write by hand.
        .executableTarget(name: "empty", swiftSettings: settings),
        .executableTarget(name: "idle", dependencies: [migrations], swiftSettings: settings),
        .executableTarget(
            name: "probe",
            dependencies: [migrations, "CMeasure", "CAllocations"],
            swiftSettings: settings
        ),
        .executableTarget(name: "defaults", dependencies: ["CMeasure"], swiftSettings: settings),
        .executableTarget(
            name: "ratios",
            dependencies: [migrations, "CMeasure", "Measuring"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "replacing-ratios",
            dependencies: [migrations, "Measuring"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "schema-ratios",
            dependencies: ["CMeasure", "Measuring", sqlite, schema],
            swiftSettings: settings
        ),
        .target(name: "CSQLiteMeasure", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "sql-ratios",
            dependencies: [migrations, sqlite, "CMeasure", "CSQLiteMeasure", "Measuring", grdb],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let core = Target.Dependency.product(name: "AppMigrations", package: "swift-app-migrations")
let sql = Target.Dependency.product(name: "AppMigrationsSQL", package: "swift-app-migrations")
let sqlite = Target.Dependency.product(name: "AppMigrationsSQLite", package: "swift-app-migrations")
let fleet: [Target.Dependency] = [
    "PostgresConnection", core, .product(name: "AppMigrationsFleet", package: "swift-app-migrations"), sql,
]

let package = Package(
    name: "PostgresInterop",
    platforms: [.macOS(.v15)],
    products: [.library(name: "PostgresConnection", targets: ["PostgresConnection"])],
    dependencies: [.package(name: "swift-app-migrations", path: "../../..")],
    targets: [
        .systemLibrary(
            name: "CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        // The splitter is no public type, so that its sources are compiled here once more, unchanged.
        .target(name: "Splitter", dependencies: [core], swiftSettings: settings),
        .executableTarget(
            name: "PostgresScripts",
            dependencies: ["CPostgres", "Splitter"],
            swiftSettings: settings
        ),
        .target(name: "PostgresConnection", dependencies: ["CPostgres", sql], swiftSettings: settings),
        // The connection of the guide *Asynchronous connections*.
        .target(
            name: "LibpqConnection",
            dependencies: ["CPostgres", sql],
            path: "Libpq",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "PostgresStarter",
            dependencies: ["PostgresConnection", sql],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "HistoryMigrator",
            dependencies: ["PostgresConnection", sql, sqlite],
            swiftSettings: settings
        ),
        .executableTarget(name: "FleetHost", dependencies: fleet, swiftSettings: settings),
        .executableTarget(name: "start-ratio", dependencies: fleet, swiftSettings: settings),
        .testTarget(
            name: "PostgresInteropTests",
            dependencies: fleet + ["LibpqConnection", "PostgresStarter"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

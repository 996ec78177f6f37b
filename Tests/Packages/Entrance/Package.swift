// swift-tools-version: 6.2

import PackageDescription

let root = "swift-app-migrations"

// The promise: a program pays only for the products that it uses, in bytes and in the time of a cold start. Without this, an import
// of Foundation in one file would cost each client, and no test would fail.
//
// Small programs that begin to use a product each: `.ci/weight` measures what that costs them.
let package = Package(
    name: "Entrance",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: root, path: "../../..")],
    targets: [
        .executableTarget(name: "nothing"),
        .executableTarget(name: "core", dependencies: [.product(name: "AppMigrations", package: root)]),
        .executableTarget(name: "sql", dependencies: [.product(name: "AppMigrationsSQL", package: root)]),
        .executableTarget(
            name: "migrator",
            dependencies: [.product(name: "AppMigrationsSQLite", package: root)]
        ),
        .executableTarget(
            name: "legacy",
            dependencies: [.product(name: "AppMigrationsLegacy", package: root)]
        ),
        .executableTarget(
            name: "tool",
            dependencies: [.product(name: "AppMigrationsCommandLine", package: root)]
        ),
        .executableTarget(name: "fleet", dependencies: [.product(name: "AppMigrationsFleet", package: root)]),
    ],
    swiftLanguageModes: [.v6]
)

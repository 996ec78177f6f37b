// swift-tools-version: 6.2

import PackageDescription

let root = "swift-app-migrations"
let core = Target.Dependency.product(name: "AppMigrations", package: root)
let sqlite = Target.Dependency.product(name: "AppMigrationsSQLite", package: root)

// The programs that `.ci/size` weighs, steps through and counts the lines of.
let package = Package(
    name: "Entrance",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: root, path: "../../..")],
    targets: [
        // The price of the entrance: what a program weighs, and how long it builds, once it begins to use a library.
        .executableTarget(name: "nothing"),
        .executableTarget(name: "core", dependencies: [core]),
        .executableTarget(name: "migrator", dependencies: [sqlite]),
        .executableTarget(name: "start", dependencies: [core]),
        .executableTarget(name: "declare", dependencies: [core]),
    ],
    swiftLanguageModes: [.v6]
)

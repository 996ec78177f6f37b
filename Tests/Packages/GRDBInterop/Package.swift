// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "GRDBInterop",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-app-migrations", path: "../../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // The server of *Another migrator*, which `starts` kills.
        .executableTarget(
            name: "SiteServer",
            dependencies: [
                .product(name: "AppMigrations", package: "swift-app-migrations"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Site",
            swiftSettings: settings
        ),
        .testTarget(
            name: "GRDBInteropTests",
            dependencies: [
                "SiteServer",
                .product(name: "AppMigrations", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQLite", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSchema", package: "swift-app-migrations"),
                .product(name: "AppMigrationsTesting", package: "swift-app-migrations"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: ".",
            exclude: ["Contexts", "Site", "run", "starts"],
            // Examples has the programs that the guides walk through. ../Samples/extract writes the guides' other
            // samples into Generated.
            sources: ["Examples", "Generated", "Tests"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

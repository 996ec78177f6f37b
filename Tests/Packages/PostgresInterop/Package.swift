// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
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
        .target(name: "Splitter", swiftSettings: settings),
        .executableTarget(
            name: "PostgresScripts",
            dependencies: ["CPostgres", "Splitter"],
            swiftSettings: settings
        ),
        .target(
            name: "PostgresConnection",
            dependencies: [
                "CPostgres", .product(name: "AppMigrationsSQL", package: "swift-app-migrations"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "PostgresStarter",
            dependencies: [
                "PostgresConnection", .product(name: "AppMigrationsSQL", package: "swift-app-migrations"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FleetHost",
            dependencies: [
                "PostgresConnection", .product(name: "AppMigrations", package: "swift-app-migrations"),
                .product(name: "AppMigrationsFleet", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQL", package: "swift-app-migrations"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "start-ratio",
            dependencies: [
                "PostgresConnection", .product(name: "AppMigrations", package: "swift-app-migrations"),
                .product(name: "AppMigrationsFleet", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQL", package: "swift-app-migrations"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PostgresInteropTests",
            dependencies: [
                "PostgresConnection", "PostgresStarter",
                .product(name: "AppMigrations", package: "swift-app-migrations"),
                .product(name: "AppMigrationsFleet", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQL", package: "swift-app-migrations"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

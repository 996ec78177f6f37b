// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Samples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-app-migrations", path: "../../..")],
    targets: [
        // `extract` writes the folder: the contexts, and in them the samples of the documentation.
        .testTarget(
            name: "Samples",
            dependencies: [
                .product(name: "AppMigrations", package: "swift-app-migrations"),
                .product(name: "AppMigrationsFleet", package: "swift-app-migrations"),
                .product(name: "AppMigrationsGate", package: "swift-app-migrations"),
                .product(name: "AppMigrationsPostgreSQL", package: "swift-app-migrations"),
                .product(name: "AppMigrationsRows", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQL", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQLite", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSchema", package: "swift-app-migrations"),
                .product(name: "AppMigrationsTesting", package: "swift-app-migrations"),
            ],
            path: ".",
            exclude: ["Contexts", "extract", "run"],
            sources: ["Generated"],
            resources: [.copy("Fixtures")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)

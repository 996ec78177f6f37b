// swift-tools-version: 6.2

import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// The settings of a new app in Xcode 26: the main actor is the default isolation, and concurrency is "approachable".
if Context.environment["SAMPLES_LIKE_A_NEW_APP"] != nil {
    settings += [
        .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}

let package = Package(
    name: "Samples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-app-migrations", path: "../../..")],
    targets: [
        // The tool of *A command-line tool*, which the tests run as a process.
        .executableTarget(
            name: "Tool",
            dependencies: [.product(name: "AppMigrationsCommandLine", package: "swift-app-migrations")],
            path: "Tool",
            swiftSettings: settings
        ),
        // The app start of *A shipped app*, its extension, and its move to an app group.
        .target(
            name: "AppStart",
            dependencies: [.product(name: "AppMigrations", package: "swift-app-migrations")],
            path: "AppStart",
            swiftSettings: settings
        ),
        // The app start of *Coming from MFMigrationManager*.
        .target(
            name: "LegacyStart",
            dependencies: [.product(name: "AppMigrationsLegacy", package: "swift-app-migrations")],
            path: "LegacyStart",
            swiftSettings: settings
        ),
        // The start of *An app on SQLite*.
        .target(
            name: "SQLiteStart",
            dependencies: [.product(name: "AppMigrationsSchema", package: "swift-app-migrations")],
            path: "SQLiteStart",
            swiftSettings: settings
        ),
        // The start of *Coming from sModel*.
        .target(
            name: "SModelStart",
            dependencies: [
                .product(name: "AppMigrationsSQLite", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSchema", package: "swift-app-migrations"),
            ],
            path: "SModelStart",
            swiftSettings: settings
        ),
        // The numbered file with a recipe of *Changing a table*.
        .target(
            name: "RecipeStart",
            dependencies: [.product(name: "AppMigrationsSchema", package: "swift-app-migrations")],
            path: "RecipeStart",
            swiftSettings: settings
        ),
        // The whole file of the README.
        .executableTarget(
            name: "Pasted",
            dependencies: [.product(name: "AppMigrations", package: "swift-app-migrations")],
            path: "Pasted",
            exclude: ["Contexts"],
            sources: ["Generated"],
            swiftSettings: settings
        ),
        // `extract` writes the folder: the contexts, and in them the samples of the documentation.
        .testTarget(
            name: "Samples",
            dependencies: [
                "AppStart", "LegacyStart", "Pasted", "RecipeStart", "SModelStart", "SQLiteStart", "Tool",
                .product(name: "AppMigrations", package: "swift-app-migrations"),
                .product(name: "AppMigrationsCommandLine", package: "swift-app-migrations"),
                .product(name: "AppMigrationsFleet", package: "swift-app-migrations"),
                .product(name: "AppMigrationsLegacy", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQL", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSQLite", package: "swift-app-migrations"),
                .product(name: "AppMigrationsSchema", package: "swift-app-migrations"),
                .product(name: "AppMigrationsTesting", package: "swift-app-migrations"),
            ],
            path: ".",
            exclude: [
                "AppStart", "Contexts", "LegacyStart", "Pasted", "RecipeStart", "SModelStart", "SQLiteStart",
                "Tool", "extract", "run", "starts",
            ],
            sources: ["Generated"],
            resources: [.copy("Fixtures")],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

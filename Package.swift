// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "swift-app-migrations",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "AppMigrations", targets: ["AppMigrations"]),
        .library(name: "AppMigrationsSQL", targets: ["AppMigrationsSQL"]),
        .library(name: "AppMigrationsSQLite", targets: ["AppMigrationsSQLite"]),
        .library(name: "AppMigrationsSchema", targets: ["AppMigrationsSchema"]),
        .library(name: "AppMigrationsFleet", targets: ["AppMigrationsFleet"]),
        .library(name: "AppMigrationsLegacy", targets: ["AppMigrationsLegacy"]),
        .library(name: "AppMigrationsCommandLine", targets: ["AppMigrationsCommandLine"]),
        .library(name: "AppMigrationsTesting", targets: ["AppMigrationsTesting"]),
    ],
    targets: [
        .target(
            name: "AppMigrations",
            dependencies: [
                .target(
                    name: "AppMigrationsPrivacy",
                    condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])
                ),
                "AppMigrationsSystem",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "AppMigrationsSystem",
            dependencies: [
                .target(name: "CAppMigrationsLinux", condition: .when(platforms: [.linux, .android]))
            ],
            swiftSettings: settings
        ),
        .target(
            name: "AppMigrationsPrivacy",
            resources: [.copy("PrivacyInfo.xcprivacy")],
            swiftSettings: settings
        ),
        .systemLibrary(name: "CAppMigrationsLinux"),
        .target(
            name: "AppMigrationsSQL",
            dependencies: ["AppMigrations", "AppMigrationsSystem"],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CAppMigrationsSQLite",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]
        ),
        .target(
            name: "AppMigrationsSQLite",
            dependencies: ["AppMigrations", "AppMigrationsSQL", "CAppMigrationsSQLite"],
            swiftSettings: settings,
            linkerSettings: [
                // By soname: the link without a version comes with the -dev package only.
                .linkedLibrary(":libsqlite3.so.0", .when(platforms: [.linux])),
                .linkedLibrary(
                    "sqlite3",
                    .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])
                ),
            ]
        ),
        .target(
            name: "AppMigrationsSchema",
            dependencies: [
                "AppMigrationsSystem", "AppMigrationsSQL", "AppMigrationsSQLite", "CAppMigrationsSQLite",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "AppMigrationsFleet",
            dependencies: ["AppMigrations", "AppMigrationsSQL"],
            swiftSettings: settings
        ),
        .target(
            name: "AppMigrationsLegacy",
            dependencies: ["AppMigrations", "AppMigrationsSystem"],
            swiftSettings: settings
        ),
        .target(
            name: "AppMigrationsCommandLine",
            dependencies: ["AppMigrations", "AppMigrationsSystem"],
            swiftSettings: settings
        ),
        .target(
            name: "AppMigrationsTesting",
            dependencies: ["AppMigrations", "AppMigrationsSQL"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "NotesExample",
            dependencies: ["AppMigrations", "AppMigrationsSQLite", "AppMigrationsSchema"],
            resources: [.process("Resources"), .copy("Migrations")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsTests",
            dependencies: ["AppMigrations", "TestSupport"],
            resources: [.copy("Fixtures")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsSQLTests",
            dependencies: [
                "AppMigrations", "AppMigrationsSQL", "AppMigrationsSQLite", "SQLTestSupport",
                "StandInDatabase",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsSQLiteTests",
            dependencies: ["AppMigrations", "AppMigrationsSQLite", "SQLTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsSchemaTests",
            dependencies: [
                "AppMigrations", "AppMigrationsSQLite", "AppMigrationsSchema", "SQLTestSupport",
                "StandInDatabase",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsFleetTests",
            dependencies: [
                "AppMigrations", "AppMigrationsSQL", "AppMigrationsSQLite", "AppMigrationsFleet",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsLegacyTests",
            dependencies: ["AppMigrations", "AppMigrationsLegacy", "AppMigrationsTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsCommandLineTests",
            dependencies: ["AppMigrations", "AppMigrationsCommandLine", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsTestingTests",
            dependencies: [
                "AppMigrations", "AppMigrationsSQL", "AppMigrationsSQLite", "AppMigrationsSchema",
                "AppMigrationsTesting", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NotesExampleTests",
            dependencies: [
                "AppMigrations", "AppMigrationsSQLite", "AppMigrationsSchema", "AppMigrationsTesting",
                "NotesExample", "TestSupport",
            ],
            resources: [.copy("Fixtures")],
            swiftSettings: settings
        ),
        // Not products: what the tests share, and the apps that the tests kill, starve and crowd.
        .target(
            name: "TestSupport",
            dependencies: ["AppMigrations"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "SQLTestSupport",
            dependencies: ["AppMigrationsSQLite", "TestSupport"],
            path: "Tests/SQLTestSupport",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "StandInApp",
            dependencies: ["AppMigrations"],
            path: "Tests/Apps/StandInApp",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "StandInLegacyApp",
            dependencies: ["AppMigrations", "AppMigrationsLegacy"],
            path: "Tests/Apps/StandInLegacyApp",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GateHang",
            dependencies: ["AppMigrations"],
            path: "Tests/Apps/GateHang",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "StandInDatabase",
            dependencies: ["AppMigrations", "AppMigrationsSQLite", "AppMigrationsSchema"],
            path: "Tests/Apps/StandInDatabase",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

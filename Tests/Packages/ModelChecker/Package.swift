// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "ModelChecker",
    targets: [
        .target(name: "CSimulatedTypes"),
        .target(name: "SimulatedSystem", dependencies: ["CSimulatedTypes"], swiftSettings: settings),
        .target(name: "CAppMigrationsLinux", dependencies: ["SimulatedSystem"], swiftSettings: settings),
        .target(
            name: "AppMigrationsSystem",
            dependencies: ["CAppMigrationsLinux", "SimulatedSystem"],
            swiftSettings: settings + [.unsafeFlags(["-module-alias", "Glibc=SimulatedSystem"])]
        ),
        .target(
            name: "AppMigrations",
            dependencies: ["AppMigrationsSystem"],
            exclude: ["AppMigrations.docc"],
            swiftSettings: settings
        ),
        .target(name: "CLibrary", swiftSettings: settings),
        .target(
            name: "AppMigrationsSQL",
            dependencies: ["AppMigrations", "CLibrary"],
            swiftSettings: settings + [.unsafeFlags(["-module-alias", "AppMigrationsSystem=CLibrary"])]
        ),
        .target(
            name: "AppMigrationsFleet",
            dependencies: ["AppMigrations", "AppMigrationsSQL"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ModelChecker",
            dependencies: ["AppMigrations", "AppMigrationsFleet", "SimulatedSystem"],
            swiftSettings: settings,
            // The module of the C library that the core doesn't import here would bring it.
            linkerSettings: [.linkedLibrary("m")]
        ),
    ],
    swiftLanguageModes: [.v6]
)

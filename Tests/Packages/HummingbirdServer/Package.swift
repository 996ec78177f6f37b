// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let fleet: [Target.Dependency] = [
    .product(name: "AppMigrationsFleet", package: "swift-app-migrations"),
    .product(name: "PostgresConnection", package: "PostgresInterop"),
]

let package = Package(
    name: "HummingbirdServer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-app-migrations", path: "../../.."),
        .package(path: "../PostgresInterop"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "NotesService",
            dependencies: fleet + [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: ".",
            exclude: [
                "Manifest", "NewRelease", "OldRelease", "Vapor", "VaporService", "run", "servers",
            ],
            // The service of the guide *Several hosts*. Its connection for PostgresNIO is only parsed, because that
            // package isn't fetched here.
            sources: [
                "Service/App.swift", "Service/MigrationConnection.swift", "Service/NotesService.swift",
            ],
            resources: [.copy("Service/Migrations")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NotesServiceTests",
            dependencies: fleet + ["NotesService"],
            path: "OldRelease",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "VaporService",
            dependencies: ["Vapor"],
            path: "VaporService",
            swiftSettings: settings
        ),
        .target(name: "Vapor", path: "Vapor", swiftSettings: settings),
        .executableTarget(
            name: "NewRelease",
            dependencies: fleet,
            path: "NewRelease",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

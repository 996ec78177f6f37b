// swift-tools-version: 6.2
import PackageDescription

let site = "https://github.com/"

let package = Package(
    name: "NotesService",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../swift-app-migrations"),
        .package(
            url: site + "apple/swift-log.git",
            from: "1.6.0"
        ),
        .package(
            url: site + "apple/swift-nio.git",
            from: "2.81.0"
        ),
        .package(
            url: site + "hummingbird-project/hummingbird.git",
            from: "2.26.0"
        ),
        .package(
            url: site + "swift-server/swift-service-lifecycle.git",
            from: "2.5.0"
        ),
        .package(
            url: site + "vapor/postgres-nio.git",
            from: "1.33.1"
        ),
    ],
    targets: [
        .executableTarget(
            name: "NotesService",
            dependencies: [
                .product(
                    name: "AppMigrationsFleet",
                    package: "swift-app-migrations"
                ),
                .product(
                    name: "Hummingbird",
                    package: "hummingbird"
                ),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(
                    name: "PostgresNIO",
                    package: "postgres-nio"
                ),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle"
                ),
                .product(
                    name: "UnixSignals",
                    package: "swift-service-lifecycle"
                ),
            ],
            resources: [.copy("Migrations")]
        ),
        .testTarget(
            name: "NotesServiceTests",
            dependencies: [
                "NotesService",
                .product(
                    name: "AppMigrationsFleet",
                    package: "swift-app-migrations"
                ),
            ]
        ),
    ]
)

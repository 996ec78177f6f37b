// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "swift-app-migrations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "AppMigrations", targets: ["AppMigrations"])
    ],
    targets: [
        .target(
            name: "AppMigrations",
            dependencies: [
                .target(
                    name: "AppMigrationsPrivacy",
                    condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])
                )
            ],
            swiftSettings: settings
        ),
        .target(
            name: "AppMigrationsPrivacy",
            resources: [.copy("PrivacyInfo.xcprivacy")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "NotesExample",
            dependencies: ["AppMigrations"],
            resources: [.process("Resources")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsTests",
            dependencies: ["AppMigrations"],
            resources: [.copy("Fixtures")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NotesExampleTests",
            dependencies: ["AppMigrations", "NotesExample"],
            resources: [.copy("Fixtures")],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

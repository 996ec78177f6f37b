// swift-tools-version: 6.2

import PackageDescription

// The lives of installs through the releases of real products: see `run`.
let package = Package(
    name: "Lives",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "swift-app-migrations", path: "../../..")],
    targets: [
        .executableTarget(
            name: "lives",
            dependencies: [.product(name: "AppMigrations", package: "swift-app-migrations")]
        )
    ],
    swiftLanguageModes: [.v6]
)

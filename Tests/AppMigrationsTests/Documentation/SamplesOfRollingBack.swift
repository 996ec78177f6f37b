import AppMigrations

// The samples of "Rolling back a release", as they stand there.

func declareCatalog(_ migrations: MigrationManager) throws {
    try migrations.whenMigrating(toVersion: "2.4", oldestReader: "2.4") { try splitCatalog() }
    try migrations.whenMigrating(toVersion: "2.5", oldestReader: "2.4") { try addThumbnails() }
}

func firstScreen(_ managers: [MigrationManager]) -> FirstScreen {
    if let required = managers.compactMap(\.requiredVersion).max() { return .updateTo("\(required)") }
    let isOlder = managers.contains { if case .downgrade = $0.launch { true } else { false } }
    return isOlder ? .warnOfNewerData : .library
}

func openLibrary(_ folder: String) throws -> FirstScreen {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: "5.0",
        stateDirectory: folder,
        options: .init(upgradesFrom: "2.5")
    )
    let screen = firstScreen([migrations])
    if case .library = screen { try declareCatalog(migrations) }
    return screen
}

// What an app has besides.

enum FirstScreen {
    case library, warnOfNewerData, updateTo(String)
}

private func splitCatalog() throws {}
private func addThumbnails() throws {}

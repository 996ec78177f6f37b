import AppMigrations
import Testing

// The samples of "Rolling back a release", as they stand there.

func declareCatalog(_ migrations: MigrationManager) throws {
    try migrations.whenMigrating(
        toVersion: "2.4",
        oldestReader: "2.4"
    ) { try splitCatalog() }
    try migrations.whenMigrating(
        toVersion: "2.5",
        oldestReader: "2.4"
    ) { try addThumbnails() }
}

func firstScreen(_ managers: [MigrationManager]) -> FirstScreen {
    if let required = managers.compactMap(\.requiredVersion).max() {
        return .updateTo("\(required)")
    }
    let isOlder = managers.contains {
        if case .downgrade = $0.launch { true } else { false }
    }
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

enum FirstScreen: Equatable {
    case library, warnOfNewerData, updateTo(String)
}

private func splitCatalog() throws { try Calls.note() }
private func addThumbnails() throws { try Calls.note() }

@Suite struct SamplesOfRollingBack {
    @Test(
        arguments: [
            ("2.3", .updateTo("2.4")), ("2.4", .warnOfNewerData), ("2.5", .library), ("2.6", .library),
        ]
            as [(String, FirstScreen)]
    )
    func `an older release is told what it may do`(version: String, screen: FirstScreen) throws {
        try withTemporaryDirectory { folder throws in
            let calls = Calls()
            try calls.during { try declareCatalog(folder.manager("2.5", firstRun: .everything)) }
            #expect(calls.names == ["splitCatalog", "addThumbnails"])
            let other = TemporaryDirectory(path: folder.path + "/other")
            #expect(try firstScreen([other.manager("1.0"), folder.manager(version)]) == screen)
        }
    }

    @Test func `the floor is there before the closure changes anything`() throws {
        try withTemporaryDirectory { folder throws in
            let failing = Calls(failing: "splitCatalog")
            #expect(throws: MigrationError.self) {
                try failing.during { try declareCatalog(folder.manager("2.5", firstRun: .everything)) }
            }
            #expect(try firstScreen([folder.manager("2.3")]) == .updateTo("2.4"))
        }
    }

    @Test func `data from below what is still declared is refused, and data from there on isn't`() throws {
        try withTemporaryDirectory { folder throws in
            try folder.writeState(lastRun: "2.4")
            let before = try folder.stateText()
            let error = try #require(throws: MigrationError.self) { try openLibrary(folder.path) }
            #expect(error.code == .tooOld)
            #expect(try folder.stateText() == before)
            try folder.writeState(lastRun: "2.5")
            #expect(try openLibrary(folder.path) == .library)
        }
    }
}

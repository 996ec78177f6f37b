import AppMigrations
import Testing

@Suite struct RollingBack {
    // Sample 1 of RollingBack.md

    // Sample 2 of RollingBack.md

    // Sample 3 of RollingBack.md

    func start(_ folder: String) throws -> MigrationManager {
        // Sample 4 of RollingBack.md
        return migrations
    }

    enum FirstScreen: Equatable {
        case library, warnOfNewerData, updateTo(String)
    }

    func splitCatalog() throws {}
    func addThumbnails() throws {}

    @Test(
        arguments: [
            ("2.3", .updateTo("2.4")), ("2.4", .warnOfNewerData), ("2.5", .library), ("2.6", .library),
        ] as [(String, FirstScreen)]
    )
    func `an older release is told what it may do`(version: String, screen: FirstScreen) async throws {
        try await withFolder { folder async throws in
            try declareCatalog(manager("2.5", in: folder + "/catalog"))
            let managers = try [
                manager("1.0", in: folder + "/other"), manager(version, in: folder + "/catalog"),
            ]
            #expect(firstScreen(managers) == screen)
        }
    }

    @Test func `a number that was too high is corrected`() async throws {
        try await withFolder { folder async throws in
            try manager("6.15", in: folder).whenMigrating(toVersion: "6.15") {}
            let migrations = try manager("6.1.6", in: folder)
            try correctVersion(migrations)
            #expect(try migrations.whenMigrating(toVersion: "6.1.6") {})
        }
    }
}

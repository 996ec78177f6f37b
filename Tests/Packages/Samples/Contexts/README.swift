import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct README {
    func migrate(_ library: Library, in folder: String) throws {
        // Sample 1 of README.md
    }

    // Sample 2 of README.md

    // Sample 3 of README.md

    enum Screen: Sendable {
        case updating(steps: Int), library, recovery(any Error), startAgainAfterUnlock(MigrationError),
            updateTheApp
    }

    struct Library: Sendable {
        struct Database {
            let calls: Calls
            func migrate() throws { try calls.note("makeTables") }
        }

        var folder = URL(filePath: "/")
        var appVersion = ""
        var declare: @Sendable (MigrationManager) throws -> Void = { _ in }
        let calls = Calls()

        var database: Database { Database(calls: calls) }

        func firstRun() -> MigrationManager.FirstRun { .freshInstall }
        func moveArchiveToFolders() throws { try calls.note() }
        func renameDrafts() throws { try calls.note() }
        func deleteThumbnails() throws { try calls.note() }
    }

    @Test func `the first sample runs what is new, in order, and a new install nothing`() async throws {
        try await withFolder { folder async throws in
            let library = Library()
            func called(in state: String) throws -> [String] {
                try migrate(library, in: state)
                return library.calls.take()
            }
            let all = ["moveArchiveToFolders", "renameDrafts", "deleteThumbnails", "makeTables"]
            #expect(try called(in: folder + "/new") == ["makeTables"])
            let old = folder + "/old"
            _ = try MigrationManager(named: "Library", currentVersion: "1.0", stateDirectory: old)
            library.calls.fail(at: "renameDrafts")
            #expect(throws: MigrationError.self) { try called(in: old) }
            #expect(library.calls.take() == Array(all[0...1]))
            library.calls.fail(at: nil)
            #expect(try called(in: old) == Array(all[1...]))
            #expect(try called(in: old) == ["makeTables"])
        }
    }

    @Test func `a real start shows the library, the recovery screen, or waits for the unlock`() async throws {
        try await withFolder { folder async throws in
            func run(
                _ version: String,
                _ declare: @escaping @Sendable (MigrationManager) throws -> Void
            ) async -> [String] {
                let shown = Calls()
                let library = Library(folder: URL(filePath: folder), appVersion: version, declare: declare)
                await start(library) { shown.add("\($0)".prefix { $0 != "(" }.description) }
                return shown.take()
            }
            let fresh = await run("1.0") { try $0.whenMigrating(toVersion: "1.0") {} }
            #expect(fresh == ["library"])
            let update = await run("1.1") { try $0.whenMigrating(toVersion: "1.1") {} }
            #expect(update == ["updating", "library"])
            struct Refused: Error {}
            let failing = await run("1.2") { try $0.whenMigrating(toVersion: "1.2") { throw Refused() } }
            #expect(failing == ["updating", "recovery"])
            let older = await run("1.0") { _ in }
            #expect(older == ["updateTheApp"])
            // A loop of links can't be read, and isn't taken for a place without a state.
            let state = folder + "/Migrations"
            try FileManager.default.removeItem(atPath: state)
            try FileManager.default.createSymbolicLink(atPath: state, withDestinationPath: state)
            let unreadable = await run("1.2") { _ in }
            #expect(unreadable == ["startAgainAfterUnlock"])
        }
    }
}

import AppMigrations
import Foundation
import TestSupport

/// A folder for one test, with what the tests of a manager named `Library` do in it.
struct TemporaryDirectory: Sendable {
    let path: String

    var stateFile: String { path + "/Library.migrations.json" }
    var lockFile: String { path + "/Library.migrations.lock" }

    /// Something in the way of every save: a folder that has the temporary file's name.
    var obstacle: String { stateFile + ".tmp" }

    func manager(
        _ currentVersion: String = "1.4",
        firstRun: MigrationManager.FirstRun = .freshInstall,
        options: MigrationManager.Options = MigrationManager.Options()
    ) throws -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: currentVersion,
            firstRun: firstRun,
            stateDirectory: Place.spelledFolder(path),
            options: options
        )
    }

    /// Writes a state by hand; `more` is further members, with a comma at the end.
    func writeState(lastRun: String, baseline: String? = nil, launched: String? = nil, more: String = "")
        throws
    {
        let text = """
            { "format": 1, "name": "Library", \(more) "lastRunVersion": "\(lastRun)",
              "baseline": "\(baseline ?? lastRun)", "launchedVersion": "\(launched ?? lastRun)", "history": [] }
            """
        try write(text)
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: stateFile)) }

    func stateText() throws -> String { try String(contentsOfFile: stateFile, encoding: .utf8) }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }
}

func withTemporaryDirectory(_ body: (TemporaryDirectory) throws -> Void) throws {
    try withTemporaryFolder { try body(TemporaryDirectory(path: Place.spelled($0))) }
}

nonisolated(nonsending) func withTemporaryDirectory(
    _ body: nonisolated(nonsending) (TemporaryDirectory) async throws -> Void
) async throws {
    try await withTemporaryFolder { path async throws in
        try await body(TemporaryDirectory(path: Place.spelled(path)))
    }
}

import AppMigrations
import Foundation
import Testing

@Suite struct Errors {
    /// An app whose data is at 1.2, and tells so.
    struct App {
        let folder: String

        func versionOfData() -> String { "1.2" }
        func log(_ line: String) {}
        func declare(_ migrations: MigrationManager) throws {
            for version in ["1.1", "1.2", "1.3"] {
                try migrations.whenMigrating(toVersion: version) {
                    _ = FileManager.default.createFile(atPath: "\(folder)/ran \(version)", contents: nil)
                }
            }
        }

        // Sample 3 of Errors.md
    }

    @Test func `an app with a damaged state starts anew`() async throws {
        try await withFolder { folder async throws in
            let file = folder + "/Library.migrations.json"
            try Data("{".utf8).write(to: URL(filePath: file))
            try App(folder: folder).startAnew()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.filter { $0.hasPrefix("ran") } == ["ran 1.3"])
            #expect(names.contains { $0.hasPrefix("Library.migrations.forgotten-") })
        }
    }
}

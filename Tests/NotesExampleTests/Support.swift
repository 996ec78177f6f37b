import AppMigrations
import Foundation
@_exported import TestSupport
import Testing

@testable import NotesExample

/// The app's output.
extension Log {
    var text: String { lines.joined(separator: "\n") }
    var output: Output { { self.add($0) } }
}

extension NotesFolder {
    /// A folder of the test that does not exist yet.
    static var current: NotesFolder { NotesFolder(path: TemporaryDirectory.current.file("data")) }

    /// Starts the app as a release and gives back what it wrote.
    @discardableResult
    func start(
        as release: Release,
        expecting outcome: NotesApp.Outcome = .opened,
        bar: Output? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let log = Log()
        let app = NotesApp(release: release, folder: self, output: log.output, bar: bar)
        let result = try await app.start()
        #expect(result == outcome, sourceLocation: sourceLocation)
        return log.text
    }

    var notes: [Note] { get throws { try NotesLibrary(folder: self).notes() } }

    /// The preferences as bytes, for equal strings may differ in their accents.
    var preferences: [String: [UInt8]] {
        get throws { try NotesPreferences(folder: self).values().mapValues { Array($0.utf8) } }
    }

    /// Every path below the folder, but for the state.
    var paths: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: path).filter { !$0.hasPrefix("Migrations") }
        }
    }

    /// Every file below the folder with its bytes, but for the state.
    var content: [String: Data] {
        get throws {
            var content: [String: Data] = [:]
            for path in try paths where try !URL(filePath: self.path(of: path)).isFolder {
                content[path] = try read(path)
            }
            return content
        }
    }
}

extension URL {
    fileprivate var isFolder: Bool {
        get throws { try resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
    }
}

extension Release: CustomTestStringConvertible {
    public var testDescription: String { version }

    static var latest: Release { v3_1 }
}

/// The notes and preferences as they come with the app.
enum Sample {
    static var notes: [Note] {
        get throws {
            try JSONDecoder().decode([Note].self, from: Data(contentsOf: SampleData.resource("notes.json")))
        }
    }

    static var preferences: [String: [UInt8]] {
        get throws {
            let data = try Data(contentsOf: SampleData.resource("preferences.txt"))
            return try NotesPreferences.decodeText(data, path: "preferences.txt").mapValues { Array($0.utf8) }
        }
    }
}

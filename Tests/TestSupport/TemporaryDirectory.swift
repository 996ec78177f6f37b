import Foundation

/// A folder for one test, among the system's temporary files.
///
/// Names of files are relative to it, or whole paths.
package struct TemporaryDirectory: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Makes a folder, which stays: for a process that becomes another user, which could not remove it.
    package init(in parent: String = NSTemporaryDirectory()) throws {
        let url = URL(filePath: parent).appending(path: "app-migrations-tests-\(UUID().uuidString)")
        // Nobody else writes to it, whatever the umask says: migrations protect no files where others write.
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        path = try PathSpelling.spelled(url.path(percentEncoded: false))
    }

    /// A folder in memory, which is another file system than the one for temporary files, where there is one.
    package static var memory: String {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    }

    package func file(_ name: String) -> String { name.hasPrefix("/") ? name : path + "/" + name }

    /// The path of a file without links and dots, as a protected path is named.
    package func resolved(_ name: String) throws -> String { try PathSpelling.resolved(path) + "/" + name }

    /// Writes a file, and makes the folders above it.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let url = URL(filePath: file(name))
        try makeFolder(url.deletingLastPathComponent().path(percentEncoded: false))
        try Data(text.utf8).write(to: url)
        return file(name)
    }

    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: file(name))), as: UTF8.self)
    }

    package func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    }

    package func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: target)
    }

    package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

    /// True if anything has that name, a broken link included.
    package func exists(_ name: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: file(name))) != nil
    }

    package func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }

    package func names(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
    }

    /// A test doesn't fail because its folder stays.
    fileprivate func end() {
        do { try FileManager.default.removeItem(atPath: path) } catch {
            print("The test's folder \(path) stays: \(error)")
        }
    }
}

/// Gives `body` a new folder, and removes the folder afterwards, also when `body` throws.
package func withTemporaryDirectory<Result>(
    in parent: String = NSTemporaryDirectory(),
    _ body: (TemporaryDirectory) throws -> Result
) throws -> Result {
    let directory = try TemporaryDirectory(in: parent)
    defer { directory.end() }
    return try body(directory)
}

/// Makes the folder for an asynchronous test, on the caller's actor.
package nonisolated(nonsending) func withTemporaryDirectory<Result>(
    _ body: nonisolated(nonsending) (TemporaryDirectory) async throws -> Result
) async throws -> Result {
    let directory = try TemporaryDirectory()
    defer { directory.end() }
    return try await body(directory)
}

/// Makes the folder for a test that needs nothing but the path.
package func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    try withTemporaryDirectory { try body($0.path) }
}

package nonisolated(nonsending) func withTemporaryFolder<Result>(
    _ body: nonisolated(nonsending) (String) async throws -> Result
) async throws -> Result {
    try await withTemporaryDirectory { directory async throws in try await body(directory.path) }
}

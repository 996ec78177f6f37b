import Foundation

/// A folder for one test, among the system's temporary files.
package struct TemporaryFolder {
    package let path: String

    package init(in parent: String = NSTemporaryDirectory()) throws {
        let url = URL(filePath: parent).appending(path: "app-migrations-tests-\(UUID().uuidString)")
        // Nobody else writes to it, whatever the umask says: migrations protect no files where others write.
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        path = url.path(percentEncoded: false)
    }

    /// A test doesn't fail because its folder stays.
    fileprivate func remove() {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("The test's folder \(path) stays: \(error)")
        }
    }
}

/// Gives `body` the path of a new folder, and removes the folder afterwards, also when `body` throws.
package func withTemporaryFolder<Result>(
    in parent: String = NSTemporaryDirectory(),
    _ body: (String) throws -> Result
) throws -> Result {
    let folder = try TemporaryFolder(in: parent)
    defer { folder.remove() }
    return try body(folder.path)
}

/// The same for asynchronous tests, on the caller's actor.
package nonisolated(nonsending) func withTemporaryFolder<Result>(
    in parent: String = NSTemporaryDirectory(),
    _ body: nonisolated(nonsending) (String) async throws -> Result
) async throws -> Result {
    let folder = try TemporaryFolder(in: parent)
    defer { folder.remove() }
    return try await body(folder.path)
}

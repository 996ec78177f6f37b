import AppMigrations
import Foundation
import TestSupport
import Testing

/// A folder of its own for one test: a state directory, files to migrate, and what the closures did.
final class Scratch: Sendable {
    let path: String
    private let rows = Guarded<[String]>([])

    /// For a process that becomes another user, which could not remove the folder: the folder stays.
    convenience init() throws { try self.init(at: TemporaryFolder().path) }

    private init(at path: String) throws { self.path = try Place.spelled(path) }

    deinit { rows.destroy() }

    /// Gives `body` a folder, which is gone afterwards.
    static func with<Result>(
        in directory: String = NSTemporaryDirectory(),
        _ body: (Scratch) throws -> Result
    ) throws -> Result {
        try withTemporaryFolder(in: directory) { try body(Scratch(at: $0)) }
    }

    /// The same for asynchronous tests.
    nonisolated(nonsending) static func with<Result>(
        _ body: nonisolated(nonsending) (Scratch) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { path async throws in try await body(Scratch(at: path)) }
    }

    /// A folder in memory, which is another file system than the one for temporary files, where there is one.
    static var memory: String {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    }

    var state: String { path + "/state" }
    var stateFile: String { state + "/Library.migrations.json" }
    var lock: String { state + "/Library.migrations.lock" }
    var snapshot: String { state + "/Library.migrations.snapshot" }
    var trace: String { path + "/trace" }

    func manager(
        _ current: String,
        firstRun: MigrationManager.FirstRun = .existingData(at: "1.0"),
        options: MigrationManager.Options = MigrationManager.Options()
    ) throws(MigrationError) -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: current,
            firstRun: firstRun,
            stateDirectory: Place.spelledFolder(state),
            options: options
        )
    }

    /// What the closures of this process did, in their order.
    var done: [String] { rows.withLock { $0 } }

    func note(_ row: String) { rows.withLock { $0.append(row) } }

    func file(_ name: String) -> String { path + "/" + name }

    /// The same without links and dots, as a protected path is named.
    func resolved(_ name: String) throws -> String { try Place.resolved(path) + "/" + name }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let url = URL(fileURLWithPath: file(name))
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return file(name)
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: file(name))), as: UTF8.self)
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: target)
    }

    /// Whether anything has that name, a broken link included.
    func exists(_ name: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: file(name))) != nil
    }

    func delete(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

    func names(_ folder: String = "state") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
    }
}

struct Refusal: Error {}

/// Ends this process as a crash, the system or the user would.
func die() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
}

/// Appends a line in one call, so that it outlives the death of the process.
func append(_ line: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array((line + "\n").utf8)
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
}

import Foundation
import Testing

@testable import AppMigrations

/// The progress of copying files, and how a cancelled task ends it.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct CopyProgressTests {
    let scratch = TemporaryDirectory.current

    /// A file of several parts, and more small files than there are percents.
    private static func fill(_ scratch: TemporaryDirectory) throws -> String {
        try scratch.makeFolder("disk/data")
        try scratch.write(String(repeating: "x", count: 3 << 20), to: "disk/data/large")
        for number in 0..<150 { try scratch.write("\(number)", to: "disk/data/\(number)") }
        return try scratch.resolved("disk/data")
    }

    /// Checks the events of one copy: rising, by steps of a percent, of files in the folder.
    private static func check(_ events: [MigrationEvent], _ folder: String) throws {
        let fractions = try events.map { try #require($0.fraction) }
        #expect(fractions.first == 0)
        #expect(fractions == fractions.sorted() && Set(fractions).count == fractions.count)
        #expect((10...101).contains(fractions.count), "\(fractions)")
        #expect(fractions.allSatisfy { (0...1).contains($0) })
        // The last file is small.
        #expect(try #require(fractions.last) > 0.6)
        for event in events {
            let note = try #require(event.note)
            // A file system that clones files needs no time for the large one, so a later event may not name it.
            #expect(note.hasPrefix("copying \(folder)"), "\(note)")
            #expect(
                FileManager.default.fileExists(atPath: String(note.dropFirst("copying ".count))),
                "\(note)"
            )
            #expect(event.version == AppVersion("1.1") && event.attempt == 1)
            #expect(event.previousVersion == AppVersion("1.0") && event.isCopying)
        }
    }

    @Test
    func `copying tells of each percent with the file that is concerned, and putting back is told once`()
        throws
    {
        let folder = try Self.fill(scratch)
        let events = Events()
        _ = try scratch.manager(upgradingTo: "1.0")
        let options = MigrationManager.Options { events.add($0) }
        let manager = try scratch.manager(upgradingTo: "1.1", options: options)
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", protecting: [folder]) {
                try FileManager.default.removeItem(atPath: folder)
                throw Refusal()
            }
        }
        let told = events.all
        let begin = try #require(told.firstIndex { $0.kind == .started })
        try Self.check(Array(told[..<begin]), folder)
        #expect(told[..<begin].allSatisfy { $0.kind == .progressed })
        #expect(told[begin...].map(\.kind) == [.started, .restored, .failed])
    }

    /// The error of a migration in a task of its own.
    private static func failure(
        of manager: MigrationManager,
        _ folder: String,
        _ body: @escaping @Sendable () throws -> Void
    ) async -> MigrationError? {
        await Task { () -> MigrationError? in
            do throws(MigrationError) {
                try await manager.whenMigrating(toVersion: "1.1", protecting: [folder]) {
                    await Task.yield()
                    try body()
                }
                return nil
            } catch {
                return error
            }
        }.value
    }

    /// Cancels its own task from a handler, at the given percent.
    private static func cancel(_ scratch: TemporaryDirectory, _ folder: String, at fraction: Double)
        async throws
    {
        let options = MigrationManager.Options { event in
            if event.kind == .progressed, (event.fraction ?? 0) >= fraction {
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        let manager = try scratch.manager(upgradingTo: "1.1", options: options)
        let before = try scratch.read("state/Library.migrations.json")
        let error = await Self.failure(of: manager, folder) { Issue.record("The closure ran.") }
        #expect(try scratch.read("state/Library.migrations.json") == before)
        #expect(error?.code == .cancelled)
        #expect(error?.underlyingError is CancellationError)
        #expect(error?.path == scratch.state.stateFile)
        #expect(
            error?.description
                == "The task was cancelled while manager \"Library\" (\(scratch.state.stateFile)) copied the files that migration "
                + "1.1 protects. Migration 1.1 was not run. Create a new manager to try again."
        )
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
        #expect(throws: MigrationError.self) { try manager.whenMigrating(toVersion: "1.1") {} }
    }

    /// In the large file, among the small ones, and near the end, wherever the file system lists the large one.
    @Test(arguments: [0, 0.3, 0.6, 0.9])
    func `a cancelled task ends the copying before anything is saved`(fraction: Double) async throws {
        let folder = try Self.fill(scratch)
        _ = try scratch.manager(upgradingTo: "1.0")
        try await Self.cancel(scratch, folder, at: fraction)
        #expect(
            try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1", protecting: [folder]) {}
        )
    }

    @Test func `a cancelled task puts everything back`() async throws {
        let folder = try Self.fill(scratch)
        _ = try scratch.manager(upgradingTo: "1.0")
        let manager = try scratch.manager(upgradingTo: "1.1")
        let error = await Self.failure(of: manager, folder) {
            try FileManager.default.removeItem(atPath: folder)
            withUnsafeCurrentTask { $0?.cancel() }
            try Task.checkCancellation()
        }
        #expect(error?.code == .cancelled)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 151)
    }

    @Test func `a handler of a copy that uses its state is refused`() throws {
        let folder = try Self.fill(scratch)
        _ = try scratch.manager(upgradingTo: "1.0")
        let log = Log()
        let options = MigrationManager.Options { event in
            if event.kind != .progressed { return }
            do throws(MigrationError) {
                try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") {}
                log.add("ran")
            } catch {
                log.add("\(error.code)")
            }
        }
        try scratch.manager(upgradingTo: "1.1", options: options)
            .whenMigrating(toVersion: "1.1", protecting: [folder]) {}
        #expect(Set(log.lines) == ["nested"])
    }
}

private final class Events: Sendable {
    private let events = Guarded<[MigrationEvent]>([])

    var all: [MigrationEvent] { events.withLock { $0 } }

    func add(_ event: MigrationEvent) { events.withLock { $0.append(event) } }
}

import Foundation
import Testing

@testable import AppMigrations

/// What an older release without this library wrote after a crash, until the next manager restored the files.
@Suite(.temporaryDirectory) struct ReplacedFilesTests {
    let scratch = TemporaryDirectory.current

    static let protected = [["data"], ["data/a", "data/b"]]

    /// A process crashes in a migration, and an older release then adds a file and a line.
    private static func crashAndGoBack(
        in scratch: TemporaryDirectory,
        protecting paths: [String],
        isOptionSet: Bool = false
    ) async throws {
        try scratch.write("old a", to: "data/a")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = scratch.path as String, paths = paths as [String], isOptionSet = isOptionSet as Bool] in
            let scratch = TemporaryDirectory(path: folder)
            let options = MigrationManager.Options(keepsReplacedFiles: isOptionSet)
            try library("1.1", in: scratch.file("state"), options: options).whenMigrating(
                toVersion: "1.1",
                protecting: paths.map(scratch.file)
            ) {
                try scratch.write("half", to: "data/a")
                die()
            }
        }
        try scratch.write("half, and a line", to: "data/a")
        try scratch.write("a note", to: "data/b")
    }

    private func expectRestored() throws {
        #expect(try scratch.read("data/a") == "old a")
        #expect(!scratch.exists("data/b"))
    }

    private func expectKept(protecting paths: [String]) throws {
        let kept = try #require(try scratch.kept())
        let isFolder = paths.count == 1
        let places = isFolder ? ["0/replaced-1/a", "0/replaced-1/b"] : ["0/replaced-1", "1/replaced-1"]
        #expect(try places.map { try scratch.read(kept + "/" + $0) } == ["half, and a line", "a note"])
    }

    @Test(arguments: protected)
    func `what a restore after a crash replaces is kept and reported if the options say so`(
        paths: [String]
    ) async throws {
        try await Self.crashAndGoBack(in: scratch, protecting: paths, isOptionSet: true)
        let log = Guarded<[MigrationError]>([])
        // For example, an extension restores the files after a crash of the app.
        let options = MigrationManager.Options { event in
            guard event.kind == .leftoverNotRemoved, let error = event.error else { return }
            log.withLock { $0.append(error) }
        }
        _ = try library("1.1", in: scratch.file("state"), options: options)
        try expectRestored()
        try expectKept(protecting: paths)
        let error = try #require(log.withLock { $0 }.first)
        #expect(log.withLock { $0.count } == 1)
        let kept = try #require(try scratch.kept())
        #expect(error.path == scratch.file(kept))
        #expect(
            error.description == """
                The protected files of manager "Library" (\(scratch.state.stateFile)) were restored after a crash, and the files that \
                were replaced may contain what an older release wrote since then. They are kept at \(scratch.file(kept)). This library \
                neither restores nor removes them. Compare them with your data, then remove them.
                """
        )
        // The migration runs now, and what is kept stays.
        try library("1.1", in: scratch.file("state"), options: options)
            .whenMigrating(toVersion: "1.1", protecting: paths.map(scratch.file)) {}
        try expectKept(protecting: paths)
    }

    @Test(arguments: protected)
    func `by default, nothing is kept`(paths: [String]) async throws {
        try await Self.crashAndGoBack(in: scratch, protecting: paths)
        let options = MigrationManager.Options(keepsReplacedFiles: true)
        _ = try library("1.1", in: scratch.file("state"), options: options)
        try expectRestored()
        try scratch.expectNoCopies()
    }

    @Test func `nothing is kept if the closure throws`() throws {
        try scratch.write("old a", to: "data/a")
        try scratch.expectPutBack(
            protecting: [scratch.file("data")],
            options: .init(keepsReplacedFiles: true)
        ) { try scratch.write("half", to: "data/a") }
    }

    /// The process crashes after the state says that the files are restored, and before the folder is moved aside.
    @Test(arguments: protected)
    func `the process that moves the folder aside can be another one than that which restored the files`(
        paths: [String]
    ) async throws {
        try await Self.crashAndGoBack(in: scratch, protecting: paths, isOptionSet: true)
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = scratch.path as String] in
            let scratch = TemporaryDirectory(path: folder)
            let options = MigrationManager.Options { event in
                if event.kind == .restored { die() }
            }
            _ = try library("1.1", in: scratch.file("state"), options: options)
        }
        try expectRestored()
        #expect(try scratch.kept() == nil)
        try library("1.1", in: scratch.file("state")).whenMigrating(toVersion: "1.1") {}
        try expectKept(protecting: paths)
    }

    /// The first process made the marker, and crashed before it moved anything.
    @Test func `a restore that is repeated keeps what it replaces`() async throws {
        try await Self.crashAndGoBack(in: scratch, protecting: ["data"])
        try scratch.write("", to: "state/Library.migrations.snapshot/replaced-files-stay")
        _ = try library("1.1", in: scratch.file("state"))
        try expectRestored()
        try expectKept(protecting: ["data"])
    }

    @Test(arguments: protected)
    func `a state that is forgotten after a crash keeps it, too`(paths: [String]) async throws {
        try await Self.crashAndGoBack(in: scratch, protecting: paths)
        _ = try MigrationManager.forgetState(named: "Library", stateDirectory: scratch.file("state"))
        try expectRestored()
        try expectKept(protecting: paths)
    }
}

import Foundation
import Testing

@testable import AppMigrations

/// `saveCheckpoint(_:progress:)`: what is in the state, for how long, and who may not save.
@Suite(.temporaryDirectory) struct CheckpointTests {
    private static func state(_ folder: TemporaryDirectory) throws -> MigrationState? {
        try StateFile(location: StateLocation(name: "Library", directory: folder.path)).readState()
    }

    private static func checkpoint(_ folder: TemporaryDirectory) throws -> Checkpoint? {
        try state(folder)?.versions.latestAttempt?.migration.checkpoint
    }

    let folder = TemporaryDirectory.current

    /// The app 1.4 with data at 1.1.
    init() throws { try folder.writeState(lastRun: "1.1", launched: "1.4") }

    /// The error that a closure of migration 1.2 meets.
    private static func error(
        _ folder: TemporaryDirectory,
        _ body: (MigrationContext) throws -> Void
    ) throws -> MigrationError {
        try #require(throws: MigrationError.self) {
            try folder.manager("1.4").whenMigrating(toVersion: "1.2", run: body)
        }
    }

    @Test func `a checkpoint is in the state when the call returns, and the next attempt goes on there`()
        throws
    {
        _ = try Self.error(folder) { context throws in
            #expect(context.checkpoint == nil)
            #expect(context.checkpointAppVersion == nil)
            #expect(try context.checkpoint(as: Int.self) == nil)
            try context.saveCheckpoint(7, progress: 0.25)
            #expect(try Self.checkpoint(folder)?.text == "7")
            #expect(try Self.checkpoint(folder)?.appVersion == version("1.4"))
            #expect(try Self.checkpoint(folder)?.progress == 0.25)
            try context.saveCheckpoint(8)
            #expect(try Self.checkpoint(folder)?.progress == 0.25)
            #expect(context.checkpoint == nil)
            throw Failure()
        }
        let rows = try folder.manager("1.4").plan { try $0.declare("1.2", "1.3") }
        #expect(rows.map(\.progress) == [0.25, nil])
        try folder.manager("1.5").whenMigrating(toVersion: "1.2") { context throws in
            #expect(context.checkpoint == "8")
            #expect(try context.checkpoint(as: Int.self) == 8)
            #expect(context.checkpointAppVersion == version("1.4"))
            #expect(context.attempt == 2)
            try context.saveCheckpoint("ninth")
            #expect(context.checkpoint == "8")
            #expect(try Self.checkpoint(folder)?.appVersion == version("1.5"))
        }
        #expect(try #require(try Self.state(folder)).versions.latestAttempt == nil)
        #expect(try !folder.stateText().contains("checkpoint"))
    }

    @Test func `a checkpoint outlives another version that an app declares before its own`() throws {
        let manager = try folder.manager("1.4")
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.3") { context in
                try context.saveCheckpoint("row 12")
                throw Failure()
            }
        }
        _ = try folder.manager("1.4").failure(of: "1.2.5")
        try folder.manager("1.4").declare("1.2.5")
        try folder.manager("1.4").whenMigrating(toVersion: "1.3") { context in
            #expect(context.checkpoint == "row 12")
        }
    }

    @Test func `a reset forgets the checkpoint`() throws {
        _ = try Self.error(folder) { context in
            try context.saveCheckpoint("row 12")
            throw Failure()
        }
        try folder.manager("1.4").reset(to: "1.1")
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") { #expect($0.checkpoint == nil) }
    }

    @Test(
        arguments: [
            (0.5, 0.5), (0, 0), (1, 1), (-3, 0), (7, 1), (.infinity, 1), (-.infinity, 0), (.nan, 0),
        ] as [(Double, Double)]
    )
    func `progress is a number from 0 to 1 and is told as an event`(given: Double, told: Double) throws {
        let rows = Guarded<[Double?]>([])
        let options = MigrationManager.Options(onEvent: { event in
            if event.kind == .progressed { rows.withLock { $0.append(event.fraction) } }
        })
        try folder.manager("1.4", options: options).whenMigrating(toVersion: "1.2") { context throws in
            try context.saveCheckpoint("a")
            try context.saveCheckpoint("b", progress: given)
            #expect(try Self.checkpoint(folder)?.progress == told)
        }
        #expect(rows.withLock { $0 } == [told])
    }

    @Test func `a checkpoint of another type is an error that says which there is`() throws {
        _ = try Self.error(folder) { context in
            try context.saveCheckpoint("row \"12\"")
            throw Failure()
        }
        let error = try Self.error(folder) { context in _ = try context.checkpoint(as: Int.self) }
        let underlying = try #require(error.underlyingError as? MigrationError)
        #expect(error.code == .migrationFailed)
        #expect(underlying.code == .checkpointNotSaved)
        #expect(
            underlying.description == """
                The checkpoint of migration 1.2 of manager "Library" (\(folder.stateFile)) can't be read as Int: app version 1.4 saved \
                "row \\"12\\"". The checkpoint was kept. Read it as the type that app version 1.4 saved.
                """
        )
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") {
            #expect($0.checkpoint == "row \"12\"")
        }
    }

    @Test func `a checkpoint takes at most 4096 bytes`() throws {
        let most = String(repeating: "\u{1}é", count: 1_365) + "x"
        #expect(most.utf8.count == 4_096)
        let error = try Self.error(folder) { context throws in
            try context.saveCheckpoint(most)
            #expect(try Self.checkpoint(folder)?.text == most)
            try context.saveCheckpoint(most + "x")
        }
        let underlying = try #require(error.underlyingError as? MigrationError)
        #expect(underlying.code == .checkpointNotSaved)
        #expect(
            underlying.description == """
                A checkpoint of migration 1.2 of manager "Library" (\(folder.stateFile)) was not saved: its \
                text has 4097 bytes in UTF-8, and at most 4096 are allowed. The previous checkpoint is unchanged. Save how far the \
                migration has come, such as the key of the last row, and not the data itself.
                """
        )
        #expect(try Self.checkpoint(folder)?.text == most)
    }

    @Test func `a context that outlived its closure saves nothing`() throws {
        var kept: MigrationContext?
        _ = try Self.error(folder) { context in
            kept = context
            try context.saveCheckpoint(1)
            throw Failure()
        }
        let context = try #require(kept)
        for expected in ["1", nil] {
            let before = try folder.stateText()
            let error = try #require(throws: MigrationError.self) { try context.saveCheckpoint(2) }
            #expect(error.code == .checkpointNotSaved)
            #expect(
                error.description == """
                    A checkpoint of migration 1.2 of manager "Library" (\(folder.stateFile)) was not saved: the closure has \
                    ended. The previous checkpoint is unchanged. Let the closure wait for the tasks and threads that it starts.
                    """
            )
            #expect(try folder.stateText() == before)
            #expect(try Self.checkpoint(folder)?.text == expected)
            // The lock isn't held by what was kept.
            try folder.manager("1.4").declare("1.2")
        }
    }

    @Test(arguments: [true, false])
    func `a checkpoint that could not be saved leaves the one before, and says so`(hasLock: Bool) throws {
        let error = try Self.error(folder) { context in
            try context.saveCheckpoint(1)
            if hasLock { try folder.makeFolder(folder.obstacle) } else { try folder.remove(folder.lockFile) }
            defer { if hasLock { #expect(throws: Never.self) { try folder.remove(folder.obstacle) } } }
            try context.saveCheckpoint(2)
        }
        let underlying = try #require(error.underlyingError as? MigrationError)
        #expect(underlying.code == .checkpointNotSaved)
        #expect(underlying.description.contains(hasLock ? "The file has the old state." : "The lock of"))
        #expect(
            underlying.description.contains(
                "The next attempt of migration 1.2 continues from the last saved checkpoint."
            )
        )
        #expect(try Self.checkpoint(folder)?.text == "1")
    }

    @Test func `several threads of a closure may save`() throws {
        _ = try Self.error(folder) { context in
            let failures = Guarded(0)
            DispatchQueue.concurrentPerform(iterations: 40) { number in
                do { try context.saveCheckpoint(number, progress: Double(number) / 40) } catch {
                    failures.withLock { $0 += 1 }
                }
            }
            #expect(failures.withLock { $0 } == 0)
            throw Failure()
        }
        let saved = try #require(try Self.checkpoint(folder))
        #expect(saved.progress == (Double(saved.text) ?? -1) / 40)
    }
}

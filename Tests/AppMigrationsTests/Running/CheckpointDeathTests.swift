import Foundation
import Testing

@testable import AppMigrations

/// Deaths and ended tasks are told apart where there are checkpoints.
@Suite(.temporaryDirectory) struct CheckpointDeathTests {
    let folder = TemporaryDirectory.current

    /// The state of an app 1.4 that died in migration 1.2, and `crashCount` times before.
    private static func write(_ folder: TemporaryDirectory, crashCount: Int, checkpoint: String?) throws {
        let saved = checkpoint.map { ", \"checkpoint\": \"\($0)\", \"checkpointAppVersion\": \"1.4\"" } ?? ""
        try folder.writeState(
            lastRun: "1.1",
            launched: "1.4",
            more: died(in: "1.2", before: crashCount, more: saved)
        )
    }

    private static func crashCount(_ folder: TemporaryDirectory) throws -> Int? {
        let location = StateLocation(name: "Library", directory: folder.path)
        return try StateFile(location: location).readState()?.versions.latestAttempt?.migration.crashCount
    }

    @Test(
        arguments: [
            (nil, ["a"], 0), ("a", ["a"], 2), ("a", ["b"], 0), ("a", ["b", "a"], 2), ("a", ["a", "b"], 0),
            ("a", [], 2),
        ] as [(String?, [String], Int)]
    )
    func `crashes are counted since the last checkpoint that changed`(
        found: String?,
        saved: [String],
        crashCount: Int
    ) throws {
        try Self.write(folder, crashCount: 1, checkpoint: found)
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") { context throws in
            #expect(context.attempt == 3)
            for text in saved { try context.saveCheckpoint(text) }
            #expect(try Self.crashCount(folder) == crashCount)
        }
    }

    @Test func `a migration that came further each time is not refused, one that did not is`() throws {
        let options = MigrationManager.Options(attemptLimit: 2)
        try Self.write(folder, crashCount: 1, checkpoint: "a")
        let error = try folder.manager("1.4", options: options).refusal(of: "1.2")
        #expect(error.code == .attemptLimitReached)
        try Self.write(folder, crashCount: 0, checkpoint: "a")
        try folder.manager("1.4", options: options).whenMigrating(toVersion: "1.2") { _ in }
        #expect(try folder.manager("1.4").lastRunVersion == version("1.2"))
    }

    @Test func `a cancelled task saves its checkpoint and ends without a failure`() async throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let task = Task {
            try await folder.manager("1.4").whenMigrating(toVersion: "1.2") { context in
                await Task.yield()
                try context.saveCheckpoint("a", progress: 0.5)
                withUnsafeCurrentTask { $0?.cancel() }
                try context.saveCheckpoint("b")
                Issue.record("It went on.")
            }
        }
        let error = try await #require(throws: MigrationError.self) { try await task.value }
        #expect(error.code == .cancelled)
        #expect(
            (error.underlyingError as? MigrationError)?.description == """
                The task of migration 1.2 of manager "Library" (\(folder.stateFile)) was cancelled. Its checkpoint is saved, and \
                the next attempt continues from it.
                """
        )
        let options = MigrationManager.Options(attemptLimit: 1)
        try folder.manager("1.4", options: options).whenMigrating(toVersion: "1.2") { context in
            #expect(context.checkpoint == "b")
        }
    }
}

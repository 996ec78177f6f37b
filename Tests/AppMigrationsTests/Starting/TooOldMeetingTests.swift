import Foundation
import Testing

@testable import AppMigrations

/// `upgradesFrom` where a process died in a migration before, or changes the state while this one starts.
@Suite(.temporaryDirectory) struct TooOldMeetingTests {
    let folder = TemporaryDirectory.current

    private static func options(
        _ onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
    ) -> MigrationManager.Options {
        MigrationManager.Options(upgradesFrom: "2.0", onEvent: onEvent)
    }

    private static func lock(_ folder: TemporaryDirectory) throws -> FileLock {
        let location = StateLocation(name: "Library", directory: folder.path)
        return try #require(try FileLock.takeIfFree(at: location))
    }

    /// The error of the app 3.0, which waits for the lock until a process at 1.1 has saved its state and gives the lock back.
    private static func meeting(_ folder: TemporaryDirectory) throws -> MigrationError {
        let lock = try lock(folder)
        let options = options { event in
            guard event.kind == .waiting else { return }
            do { try folder.writeState(lastRun: "1.1", launched: "2.5") } catch {
                Issue.record(error)
            }
            lock.unlock()
        }
        return try #require(throws: MigrationError.self) { try folder.manager("3.0", options: options) }
    }

    @Test func `a state that another process makes during the first run is refused`() throws {
        #expect(try Self.meeting(folder).code == .tooOld)
        #expect(try folder.stateText().contains("\"launchedVersion\": \"2.5\""))
    }

    @Test(arguments: [false, true])
    func `a state that an older app saves after the start is refused by the next declaration`(
        isInside: Bool
    ) throws {
        try folder.writeState(lastRun: "0", launched: "2.5")
        let lock = try Self.lock(folder)
        let manager = try folder.manager("3.0", options: Self.options())
        try folder.writeState(
            lastRun: isInside ? "0" : "1.1",
            launched: "2.5",
            more: isInside ? died(in: "1.1", app: "2.5") : ""
        )
        lock.unlock()
        #expect(try manager.refusal(of: "2.1").code == .tooOld)
        // Otherwise the release that has the missing migrations would be held back for ever.
        #expect(try folder.stateText().contains("\"launchedVersion\": \"2.5\""))
    }
}

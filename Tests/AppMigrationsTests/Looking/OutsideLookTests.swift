import Foundation
import Testing

@testable import AppMigrations

/// What a manager that only looks sees of another process, by the sign on the lock of that process.
@Suite struct OutsideLookTests {
    private static func manager(
        _ path: String,
        _ current: String,
        isReadOnly: Bool = false
    ) throws(MigrationError) -> MigrationManager {
        try library(current, in: path + "/state", options: .init(isReadOnly: isReadOnly))
    }

    @Test(arguments: ["status", "plan", "start"])
    func `a process that looks at its own attempt, or starts again, is not taken for dead`(
        look: String
    ) async throws {
        try await withTemporaryDirectory { scratch async throws in
            await #expect(processExitsWith: .success) {
                [path = scratch.path as String, look = look as String] in
                let manager = try Self.manager(path, "1.1")
                try manager.whenMigrating(toVersion: "1.1") { () throws in
                    switch look {
                    case "status": _ = try manager.status
                    case "plan":
                        let options = MigrationManager.Options(attemptLimit: 1)
                        let other = try library(
                            "1.1",
                            in: path + "/state",
                            firstRun: .freshInstall,
                            options: options
                        )
                        _ = try other.plan { try $0.whenMigrating(toVersion: "1.1") {} }
                    default:
                        // On another thread, where nothing tells that the start comes from inside the closure.
                        let ended = DispatchSemaphore(value: 0)
                        Thread.detachNewThread {
                            do { _ = try Self.manager(path, "1.2") } catch { Issue.record(error) }
                            ended.signal()
                        }
                        ended.wait()
                    }
                    let child = forkProcess()
                    if child == 0 {
                        closeDescriptorsOfTheRunner()
                        let status = try Self.manager(path, "1.1", isReadOnly: true).status
                        _exit(status.interruption?.isUnderWay == true ? 7 : 8)
                    }
                    try append("\(wait(for: child))", to: path + "/status")
                }
            }
            #expect(try scratch.read("status") == "7\n")
        }
    }
}

import Foundation
import Testing

@testable import AppMigrations

/// A closure makes a child by `fork`, which has a copy of everything its parent has: descriptors, locks, the stack.
@Suite(.temporaryDirectory) struct ForkTests {
    let scratch = TemporaryDirectory.current

    static func manager(_ path: String, timeout: Duration? = nil) throws(MigrationError) -> MigrationManager {
        try library("1.1", in: path + "/state", options: .init(lockTimeout: timeout))
    }

    @Test func `a child that outlives its killed parent holds nothing`() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            try Self.manager(path).whenMigrating(toVersion: "1.1") {
                if forkProcess() == 0 {
                    closeDescriptorsOfTheRunner()
                    try append("\(getpid())", to: path + "/child")
                    // Until the test kills it.
                    while true { pause() }
                }
                while access(path + "/child", F_OK) != 0 { sched_yield() }
                die()
            }
        }
        #expect(try Self.manager(scratch.path, timeout: .zero).declare("1.1") == ["1.1"])
        let child = try #require(pid_t(try scratch.read("child").dropLast()))
        #expect(kill(child, SIGKILL) == 0)
    }

    @Test(arguments: [false, true])
    func `a child that comes back from the closure records nothing and puts nothing back`(
        isThrowing: Bool
    ) async throws {
        try scratch.write("old", to: "data")
        await #expect(processExitsWith: .success) {
            [path = scratch.path as String, isThrowing = isThrowing as Bool] in
            let manager = try Self.manager(path)
            let parent = getpid()
            do throws(MigrationError) {
                try manager.whenMigrating(toVersion: "1.1", protecting: [path + "/data"]) {
                    let child = forkProcess()
                    if child == 0 {
                        try append("child", to: path + "/data")
                        if isThrowing { throw Refusal() }
                    } else {
                        try append("\(wait(for: child))", to: path + "/status")
                    }
                }
            } catch {
                let reason =
                    "this process is a child that process \(parent), which has the lock, made by fork. Nothing was "
                    + "written to \(path)/state/Library.migrations.json without it. Migration 1.1 "
                    + "\(isThrowing ? "failed" : "ran") and that was not recorded, and the files it protects were left "
                    + "as they are. "
                _exit(getpid() != parent && error.description.contains(reason) ? 7 : 8)
            }
            if getpid() != parent { _exit(9) }
        }
        #expect(try scratch.read("status") == "7\n")
        #expect(try scratch.read("data") == "oldchild\n")
        let next = try Self.manager(scratch.path)
        #expect(try next.history.map(\.version.description) == ["1.1"])
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `a child waits for its parent's asynchronous closure as any other process does`() async throws
    {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let manager = try Self.manager(path)
            try await manager.whenMigrating(toVersion: "1.1") {
                await Task.yield()
                try Self.look(path)
            }
        }
        #expect(try scratch.read("status") == "7\n")
    }

    /// What a child of this process is told, by a thread that knows of no closure.
    private static func look(_ path: String) throws {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let child = forkProcess()
            if child == 0 {
                do throws(MigrationError) {
                    try manager(path, timeout: .zero).whenMigrating(toVersion: "1.1") {}
                    _exit(8)
                } catch {
                    _exit(error.code == .lockTimeout ? 7 : 9)
                }
            }
            do { try append("\(wait(for: child))", to: path + "/status") } catch { print(error) }
            ended.signal()
        }
        ended.wait()
    }
}

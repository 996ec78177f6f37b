import Foundation
import Testing

@testable import AppMigrations

/// The lock's holder, the processes that wait for it, and the one that an error names; `ContentionTests` has the crowds.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct LockTests {
    let folder = TemporaryDirectory.current

    @Test func `who waits finds nothing left to do`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let log = Log()
        let waiting = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let options = MigrationManager.Options { event in
            log.add("\(event.kind) \(event.version?.description ?? "")")
            waiting.signal()
        }
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") {
            Thread.detachNewThread {
                do {
                    let ran = try folder.manager("1.4", options: options).declare("1.2", "1.3")
                    log.add("ran \(ran)")
                } catch {
                    log.add("\(error)")
                }
                done.signal()
            }
            waiting.wait()
        }
        done.wait()
        #expect(log.lines == ["waiting 1.2", "started 1.3", "finished 1.3", #"ran ["1.3"]"#])
    }

    @Test func `a manager made while another migrates doesn't wait`() throws {
        try folder.writeState(lastRun: "1.1")
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") {
            let newer = try folder.manager("1.5")
            #expect(newer.launch == .upgrade(from: version("1.4")))
            #expect(newer.lastRunVersion == version("1.1"))
        }
        #expect(try folder.stateText().contains("\"launchedVersion\" : \"1.4\""))
    }

    @Test func `the launched version that couldn't be saved for the lock comes with the intent`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.3")
        var manager: MigrationManager?
        try holdingLock(folder) { manager = try folder.manager("1.4") }
        #expect(try folder.stateText().contains("\"launchedVersion\": \"1.3\""))
        try manager?.whenMigrating(toVersion: "1.2") { () throws in
            #expect(try folder.stateText().contains("\"launchedVersion\" : \"1.4\""))
        }
        #expect(manager?.lastRunVersion == version("1.2"))
    }

    @Test func `a time-out names the process that holds the lock`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        try holdingLock(folder) {
            let manager = try folder.manager(
                "1.4",
                // The real clock, since the error tells of the time.
                options: MigrationManager.Options(lockTimeout: .milliseconds(5))
            )
            let error = try manager.refusal(of: "1.2")
            #expect(error.code == .lockTimeout)
            #expect(error.path == folder.lockFile)
            #expect(
                error.description
                    == "The manager \"Library\" (\(folder.stateFile)) waited 0.005 seconds for the lock "
                    + "\(folder.lockFile), which process \(getpid()) holds. Migration 1.2 was not run. Wait until that process has finished, and try again with a new manager."
            )
            #expect(try manager.refusal(of: "1.2").code == .managerClosed)
        }
        #expect(try folder.manager("1.4").declare("1.2") == ["1.2"])
    }

    @Test(arguments: [true, false])
    func `cancelling a waiting task ends its wait`(isAsynchronous: Bool) async throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let waiting = DispatchSemaphore(value: 0)
        let lock = try Self.lock(folder)
        let manager = try folder.manager("1.4", options: .init { _ in waiting.signal() })
        let task = Task.detached {
            if isAsynchronous {
                try await manager.whenMigrating(toVersion: "1.2") {
                    await Task.yield()
                    Issue.record("The closure ran.")
                }
            } else {
                try manager.whenMigrating(toVersion: "1.2") { Issue.record("The closure ran.") }
            }
        }
        // From a thread: the task that waits may have the last one that tasks run on.
        Thread.detachNewThread {
            waiting.wait()
            task.cancel()
        }
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        lock.unlock()
        #expect(error?.code == .cancelled)
        #expect(error?.underlyingError is CancellationError)
        #expect(try manager.refusal(of: "1.2").code == .managerClosed)
        #expect(try folder.manager("1.4").declare("1.2") == ["1.2"])
    }

    @Test(arguments: [false, true])
    func `a second call of a manager whose first one waits is nested, and closes nothing`(isAsync: Bool)
        async throws
    {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let (waits, waiting) = AsyncStream.makeStream(of: Void.self)
        let lock = try Self.lock(folder)
        let log = Log()
        let manager = try folder.manager(
            "1.4",
            options: .init { event in if event.kind == .waiting { waiting.yield() } }
        )
        let first = Task.detached {
            if isAsync {
                try await manager.whenMigrating(toVersion: "1.2") { () async in log.add("1.2") }
            } else {
                func declare() throws { try manager.whenMigrating(toVersion: "1.2") { log.add("1.2") } }
                try declare()
            }
        }
        for await _ in waits { break }
        for text in ["1.1", "1.2", "1.3"] {
            let error = await #expect(throws: MigrationError.self) {
                try await manager.whenMigrating(toVersion: text) { () async in log.add(text) }
            }
            #expect(error?.code == .nested)
            #expect(error?.version == version(text))
            let second = try await Task.detached { try manager.refusal(of: text).code }.value
            #expect(second == .nested)
        }
        lock.unlock()
        try await first.value
        try await manager.whenMigrating(toVersion: "1.3") { () async in log.add("1.3") }
        #expect(log.lines == ["1.2", "1.3"])
    }

    @Test func `a lock whose file was removed guards nothing, and is taken anew`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let lock = try Self.lock(folder)
        let waiting = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let log = Log()
        let manager = try folder.manager("1.4", options: .init { _ in waiting.signal() })
        Thread.detachNewThread {
            do { log.add("\(try manager.declare("1.2"))") } catch { log.add("\(error)") }
            done.signal()
        }
        waiting.wait()
        try folder.remove(folder.lockFile)
        lock.unlock()
        done.wait()
        #expect(log.lines == [#"["1.2"]"#])
        #expect(try folder.names().contains("Library.migrations.lock"))
    }

    @Test func `the line of the lock's file names the holder, and is written into nobody else's file`() throws
    {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        try folder.manager("1.4").declare("1.2")
        #expect(
            try folder.read("Library.migrations.lock").trimmingPrefix("\(getpid()) ").allSatisfy(
                \.isWhitespace
            )
        )
        try folder.remove(folder.lockFile)
        try folder.write("4711       \n", to: "other")
        try FileManager.default.linkItem(atPath: folder.file("other"), toPath: folder.lockFile)
        try folder.manager("1.4").declare("1.3")
        #expect(try folder.read("other") == "4711       \n")
        // Another process would hold the lock like this.
        let lock = open(folder.lockFile, O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        let error = try folder.manager("1.4", options: .init(lockTimeout: .zero)).refusal(of: "1.4")
        #expect(error.description.contains(", which process 4711 holds."), "\(error)")
    }

    @Test func `a lock that is no file can't be taken`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        try folder.makeFolder(folder.lockFile)
        let error = try folder.manager("1.4").refusal(of: "1.2")
        #expect(error.code == .stateNotSaved)
        #expect(
            error.description
                == "The lock \(folder.lockFile) of manager \"Library\" (\(folder.stateFile)) could not be taken: Is a directory "
                + "(open, errno 21). Migration 1.2 was not run. Make the folder and the files in it "
                + "writable for this process, and start the app again."
        )
    }

    private static func lock(_ folder: TemporaryDirectory) throws -> FileLock {
        let location = StateLocation(name: "Library", directory: folder.path)
        return try #require(try FileLock.takeIfFree(at: location))
    }

    private func holdingLock(_ folder: TemporaryDirectory, _ body: () throws -> Void) throws {
        let lock = try Self.lock(folder)
        defer { lock.unlock() }
        try body()
    }
}

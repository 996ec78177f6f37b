import AppMigrations
import AppMigrationsFleet
@_exported import TestSupport
import Testing

/// A store and a clock, and managers on them as several hosts have them.
struct Fleet: Sendable {
    let store = TestStore()
    let clock = ManualClock()
    let log = Log()

    func host(
        _ host: String = "a",
        at version: String = "1.4",
        firstRun: MigrationManager.FirstRun = .everything,
        on store: (any FleetStore)? = nil,
        _ change: (inout FleetMigrationManager.Options) -> Void = { _ in }
    ) async throws(MigrationError) -> FleetMigrationManager {
        var options = FleetMigrationManager.Options()
        options.onEvent = { event in
            let note = event.note.map { " \($0.prefix { $0 != "," })" } ?? ""
            log.add("\(host) \(event.kind)\(note)")
        }
        change(&options)
        return try await FleetMigrationManager(
            host,
            at: version,
            firstRun: firstRun,
            on: store ?? self.store,
            options: options,
            clock: clock
        )
    }
}

extension FleetMigrationManager {
    /// A manager whose clock stands still until a test moves it: no lease is lost while other tests keep all threads busy.
    convenience init(
        _ host: String = "a",
        named name: String = "Data",
        at version: String = "1.4",
        firstRun: MigrationManager.FirstRun = .everything,
        on store: any FleetStore,
        options: Options = Options(),
        clock: ManualClock = ManualClock()
    ) async throws(MigrationError) {
        var options = options
        (options.clock, options.host) = (clock.clock, host)
        try await self.init(
            named: name,
            currentVersion: version,
            firstRun: firstRun,
            store: store,
            options: options
        )
    }
}

extension Fleet {
    /// Lets time pass until something holds, or for so long at most.
    func pass(_ duration: Duration = .seconds(500), until isOver: () -> Bool = { false }) async {
        let end = clock.now + duration
        while clock.now < end, !isOver() {
            clock.advance(by: .milliseconds(250))
            for _ in 0..<100 { await Task.yield() }
        }
    }

    /// Lets time pass until a line is in the log.
    func pass(until line: String) async { await pass { log.lines.contains(line) } }

    /// A host whose closure stands at a door, and the door.
    func holding(
        _ host: String = "a",
        _ change: (inout FleetMigrationManager.Options) -> Void = { _ in }
    ) async throws -> (task: Task<MigrationError.Code?, Never>, door: Door) {
        let manager = try await self.host(host, change)
        let door = Door()
        let task = Task { [log] in
            await code {
                try await manager.whenMigrating(toVersion: "1.1") { context in
                    log.add("\(host) runs \(context.attempt)")
                    await withTaskCancellationHandler {
                        await door.pass()
                    } onCancel: {
                        log.add("\(host) is cancelled")
                    }
                }
            }
        }
        await clock.sleepers(1)
        while !log.lines.contains(where: { $0.hasPrefix("\(host) runs") }) { await Task.yield() }
        return (task, door)
    }
}

extension Fleet {
    /// Puts the document there that a host leaves which died in 1.1.
    func leaveLease(of host: String = "a", _ leaseDuration: Duration = .seconds(30)) async throws {
        let manager = try await self.host(host) { $0.leaseDuration = leaseDuration }
        let document = Log()
        try await manager.whenMigrating(toVersion: "1.1") {
            document.add(try #require(try await store.text()))
        }
        try await store.put(try #require(document.lines.first))
    }

    /// The error with which a call ends, while time passes in its pauses alone; `nil` where it doesn't throw.
    func error(of call: @escaping @Sendable () async throws -> Void) async -> MigrationError? {
        let isDone = Log()
        let task = Task { () async -> MigrationError? in
            defer { isDone.add("done") }
            do { try await call() } catch { return error as? MigrationError }
            return nil
        }
        let end = clock.now + .seconds(500)
        while isDone.lines.isEmpty {
            // A call without end is an error of its own.
            if clock.now >= end { task.cancel() }
            if clock.asleep > 0 { clock.advance(by: .milliseconds(500)) }
            await Task.yield()
        }
        return await task.value
    }
}

extension Log {
    func until(_ entry: String) async {
        while !lines.contains(entry) { await Task.yield() }
    }
}

/// A door that a closure waits at until the test opens it.
final class Door: Sendable {
    private struct Progress {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let progress = Guarded(Progress())

    func open() {
        let waiting = progress.withLock { progress in
            progress.isOpen = true
            defer { progress.waiting = [] }
            return progress.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits for the door, and not for the task's cancellation.
    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = progress.withLock { progress in
                if !progress.isOpen { progress.waiting.append(continuation) }
                return progress.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// The code with which a call ends; `nil` where it doesn't throw.
func code(_ call: () async throws -> Void) async -> MigrationError.Code? {
    do {
        try await call()
        return nil
    } catch { return (error as? MigrationError)?.code }
}

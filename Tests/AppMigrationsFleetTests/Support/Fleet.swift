import AppMigrations
@_exported import TestSupport
import Testing

@testable import AppMigrationsFleet

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
    /// A manager whose clock stands still until a test moves it: no lease is lost while other tests keep all
    /// threads busy.
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
    /// Lets time pass, as ``ManualClock/pass(_:waiting:timers:until:hanging:)`` does, also while calls of the
    /// store hang.
    func pass(
        _ duration: Duration = .seconds(500),
        waiting: Int = 1,
        timers: Int = 0,
        until isOver: () -> Bool = { false }
    ) async throws {
        try await clock.pass(
            duration,
            waiting: waiting,
            timers: timers,
            until: isOver,
            hanging: { store.hanging }
        )
    }

    /// Waits until everybody waits again who is to wait, as ``pass(_:waiting:timers:until:)`` does before it
    /// moves the clock.
    func settle(waiting: Int = 1, timers: Int = 0, until isOver: () -> Bool = { false }) async throws {
        try await pass(.zero, waiting: waiting, timers: timers, until: isOver)
    }

    /// A host whose closure stands at a door.
    struct Held: Sendable {
        let call: Call<MigrationError.Code?>
        let door: Door
        let context: FleetMigrationContext

        /// The code with which the host's call ends.
        var code: MigrationError.Code? { get async throws { try await call.value } }

        /// Lets the closure return, and waits until it has: no renewal begins after that.
        func open() async throws {
            door.open()
            try await waitUntil {
                context.holder.mutableState.withLock { $0.renewalTask?.isCancelled } == true
            }
        }
    }

    /// Begins a migration on a host whose closure logs that it runs, and waits at a door.
    func holding(
        _ host: String = "a",
        _ change: (inout FleetMigrationManager.Options) -> Void = { _ in }
    ) async throws -> Held {
        let manager = try await self.host(host, change)
        let door = Door()
        let context = Guarded<FleetMigrationContext?>(nil)
        let call = Call { [log] in
            await code {
                try await manager.whenMigrating(toVersion: "1.1") { own in
                    context.withLock { $0 = own }
                    log.add("\(host) runs \(own.attempt)")
                    await withTaskCancellationHandler {
                        await door.pass()
                    } onCancel: {
                        log.add("\(host) is cancelled")
                    }
                }
            }
        }
        try await waitUntil { context.withLock { $0 } != nil && clock.timers > 0 || call.hasEnded }
        return Held(call: call, door: door, context: try #require(context.withLock { $0 }))
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
        let call = Call { try await call() }
        do {
            try await pass { call.hasEnded }
            // A call without end is an error of its own.
            if !call.hasEnded { call.cancel() }
            try await call.value
        } catch { return error as? MigrationError }
        return nil
    }
}

extension Log {
    func until(_ entry: String) async throws { try await waitUntil { lines.contains(entry) } }
}

/// A door that a closure waits at until the test opens it.
final class Door: Sendable {
    private struct Progress {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let progress = Guarded(Progress())

    var isOpen: Bool { progress.withLock { $0.isOpen } }

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

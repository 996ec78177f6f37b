import AppMigrations
import AppMigrationsFleet

/// A store and a clock, and managers on them as several hosts have them.
struct Fleet: Sendable {
    let store = TestStore()
    let clock = ManualClock()
    let log = Log()

    func host(
        _ host: String = "a",
        at version: String = "1.4",
        firstRun: MigrationManager.FirstRun = .everything,
        _ change: (inout FleetMigrationManager.Options) -> Void = { _ in }
    ) async throws(MigrationError) -> FleetMigrationManager {
        var options = FleetMigrationManager.Options()
        options.onEvent = { event in
            let note = event.note.map { " \($0.prefix { $0 != "," })" } ?? ""
            log.add("\(host) \(event.kind)\(note)")
        }
        change(&options)
        return try await FleetMigrationManager(
            named: "Data",
            currentVersion: version,
            firstRun: { firstRun },
            store: store,
            options: options,
            clock: clock.clock,
            host: host
        )
    }
}

/// What happened, in order.
final class Log: Sendable {
    private let entries = Guarded<[String]>([])

    deinit { entries.destroy() }

    func add(_ entry: String) { entries.withLock { $0.append(entry) } }

    var all: [String] { entries.withLock { $0 } }
}

/// A door that a closure waits at until the test opens it.
final class Door: Sendable {
    private struct Progress {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let progress = Guarded(Progress())

    deinit { progress.destroy() }

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
    } catch {
        return (error as? MigrationError)?.code
    }
}

/// For managers by the clocks of the system: the tests of all modules run in one process, whose threads can be busy for longer than
/// half of a usual lease.
let longLease = Duration.seconds(3_600)

/// Runs a job with a usual lease, and again where it lost that lease, as its scheduler would.
func keptOrTriedAgain(_ job: () async throws -> Void) async throws {
    while true {
        do {
            return try await job()
        } catch let error as MigrationError where error.code == .leaseLost {
            continue
        }
    }
}

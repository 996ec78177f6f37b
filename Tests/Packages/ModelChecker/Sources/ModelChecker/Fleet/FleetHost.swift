import AppMigrationsFleet
import SimulatedSystem

/// A host of the simulated fleet: its clocks, its way to the store, and what it waits for.
final class FleetHost: @unchecked Sendable {
    /// The step that the host waits for.
    final class Step: @unchecked Sendable {
        enum Kind {
            /// Until a time of the fleet.
            case pause(Duration)
            /// A request on its way to the store, and the answer on its way back.
            case request(String), answer(String)
        }

        let kind: Kind
        let number: Int
        /// The network holds it back, while the host goes on.
        var isHeldBack = false
        var continuation: UnsafeContinuation<Fate, Never>?

        init(_ kind: Kind, _ number: Int) {
            self.kind = kind
            self.number = number
        }
    }

    enum Fate: UInt64 { case goesOn, isLost, isLate, isCancelled, hostDied }

    struct Died: Error {}
    struct Lost: Error {}

    let number: Int
    let start: Int
    let fleet: Fleet
    var steps: [Step] = []
    /// The whole host stands still.
    var isStalled = false { didSet { if !isStalled { awake = fleet.time } } }
    /// Since when it hasn't stood still.
    private(set) var awake = Duration.zero
    /// When it sent the newest of its writes that the store has done.
    var written = Duration.zero
    var isDead = false
    var ending: String?
    var hasEnded = false
    /// A hash of everything that the host has seen.
    var history: UInt64
    private var count = 0

    var name: String { "host \(number + 1)" + (start > 0 ? ", start \(start + 1)" : "") }

    init(_ number: Int, start: Int, in fleet: Fleet) {
        self.number = number
        self.start = start
        self.fleet = fleet
        history = Machine.mix(UInt64(number), UInt64(start))
    }

    func observe(_ value: UInt64) { history = Machine.mix(history, value) }

    /// The clocks of the host begin at another time than those of the others.
    var clock: FleetClock {
        var clock = FleetClock()
        clock.uptime = { self.fleet.time + .seconds(1_000 * (self.number + 1)) }
        clock.awake = { self.fleet.time + .seconds(500 * (self.number + 1)) }
        clock.now = { 1_790_000_000 + 3_600 * Int64(self.number) + self.fleet.time.components.seconds }
        clock.pause = { try await self.pause($0) }
        clock.timer = { try await self.pause($0) }
        clock.alarm = { time, ring in
            let alarm = Task {
                try await self.pause(time)
                ring()
            }
            return { alarm.cancel() }
        }
        return clock
    }

    /// Waits for some time, or until the task is cancelled.
    func pause(_ duration: Duration) async throws {
        let step = Step(.pause(fleet.time + duration), next())
        let fate = await withTaskCancellationHandler {
            if Task.isCancelled { return Fate.isCancelled }
            return await wait(step)
        } onCancel: {
            self.resume(step, .isCancelled)
        }
        if fate == .hostDied { throw Died() }
        if fate == .isCancelled { throw CancellationError() }
    }

    /// Waits for some time, whatever happens to the task.
    func pauseUncancelled(_ duration: Duration) async throws {
        if await wait(Step(.pause(fleet.time + duration), next())) == .hostDied { throw Died() }
    }

    /// Gives whether the request, or the answer, comes later or not at all.
    func reach(_ kind: Step.Kind) async throws -> Fate {
        let fate = await wait(Step(kind, next()))
        if fate == .hostDied { throw Died() }
        return fate
    }

    private func next() -> Int {
        count += 1
        return count
    }

    private func wait(_ step: Step) async -> Fate {
        if isDead { return .hostDied }
        return await withUnsafeContinuation { continuation in
            step.continuation = continuation
            steps.append(step)
        }
    }

    func resume(_ step: Step, _ fate: Fate) {
        guard let index = steps.firstIndex(where: { $0 === step }) else { return }
        steps.remove(at: index)
        step.isHeldBack = false
        observe(UInt64(step.number) << 4 | fate.rawValue)
        observe(fleet.moment)
        step.continuation?.resume(returning: fate)
        step.continuation = nil
    }

    /// Everything that the host still does is refused.
    func die() {
        isDead = true
        (isStalled, history) = (false, 0)
        while let step = steps.first { resume(step, .hostDied) }
    }
}

extension FleetHost: FleetStore {
    func document(named name: String) async throws -> FleetDocument? {
        if try await reach(.request("asks for the document")) == .isLost { throw Lost() }
        let (found, hash) = (fleet.document, fleet.documentHash)
        if try await reach(.answer("is given revision \(found?.revision.description ?? "none")")) == .isLost {
            throw Lost()
        }
        observe(hash)
        return found
    }

    func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        let write = Fleet.Write(
            host: self,
            revision: revision,
            bytes: document,
            hash: Machine.mix(history, 1),
            sent: fleet.time
        )
        switch try await reach(.request("writes at revision \(revision?.description ?? "none")")) {
        case .isLost: throw Lost()
        case .isLate:
            fleet.late.append(write)
            throw Lost()
        default: break
        }
        let written = fleet.write(write)
        let answer = written.map { "wrote revision \($0)" } ?? "is refused"
        if try await reach(.answer("is told that it \(answer)")) == .isLost { throw Lost() }
        observe(written == nil ? 2 : 3)
        return written
    }
}

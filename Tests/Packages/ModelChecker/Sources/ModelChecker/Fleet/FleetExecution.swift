import SimulatedSystem

/// One execution of a fleet's scenario: hands the turn from step to step, and lets things go wrong.
final class FleetExecution {
    private enum Option {
        case step(FleetHost, FleetHost.Step, FleetHost.Fate)
        case arrives(Int)
        case stall(FleetHost)
        case wake(FleetHost)
        case holdBack(FleetHost, FleetHost.Step)
        case deliver(FleetHost, FleetHost.Step)
        case death(FleetHost)
    }

    /// More than any execution needs in which nobody waits for ever.
    private static var mostSteps: Int { 2_000 }

    private let scenario: FleetScenario
    private let search: FleetSearch
    private var budget: Scenario.Budget
    private(set) var ghost: FleetGhost
    private(set) var fleet: Fleet
    private(set) var steps = 0
    private var isUndisturbed = false
    private var current = 0
    var choices: Choices
    var isTraced = false

    init(_ scenario: FleetScenario, _ search: FleetSearch, _ choices: Choices) {
        (self.scenario, self.search, self.choices) = (scenario, search, choices)
        budget = scenario.budget
        ghost = FleetGhost(scenario.versions)
        fleet = Fleet(ghost)
    }

    /// Runs all hosts to their end.
    func run() {
        if isTraced { fleet.trace = [] }
        for number in scenario.programs.indices { start(number, scenario.programs[number]) }
        guard goOn() else { return unwind() }
        isUndisturbed = true
        fleet.note("nothing disturbs the last start")
        start(0, scenario.last)
        guard goOn() else { return unwind() }
        ghost.requireMigrated(fleet)
    }

    private func start(_ number: Int, _ program: @escaping FleetScenario.Program) {
        let earlier = fleet.hosts.count { $0.number == number }
        let host = FleetHost(number, start: earlier, in: fleet)
        fleet.hosts.append(host)
        fleet.note("\(host.name) starts")
        let ghost = ghost
        Task.detached { host.ending = await program(host, ghost) }
        Jobs.drain()
        end(host)
    }

    private func end(_ host: FleetHost) {
        guard let ending = host.ending, !host.isDead, !host.hasEnded else { return }
        host.hasEnded = true
        fleet.note("\(host.name) ends: \(ending)")
        let isExpected =
            isUndisturbed
            ? ending == "done" : scenario.endings.contains(ending) || (isTroubled && ending != "")
        if !isExpected { ghost.fail("A host ended with \(ending), though nothing had gone wrong.") }
    }

    private var isTroubled: Bool {
        budget.stalls < scenario.budget.stalls || budget.faults < scenario.budget.faults
    }

    /// Goes from step to step until nobody waits; `false` where this execution is cut off.
    private func goOn() -> Bool {
        while ghost.violation == nil {
            let options = options()
            guard !options.isEmpty else { return true }
            var index = 0
            if options.count > 1 {
                guard let choice = choose(options.count) else { return false }
                index = choice
            }
            steps += 1
            search.transitions += 1
            if steps > Self.mostSteps { ghost.fail("Nobody waits for ever.") }
            perform(options[index])
            Jobs.drain()
            for host in fleet.hosts { end(host) }
        }
        return false
    }

    private func unwind() {
        for host in fleet.hosts { host.die() }
        Jobs.drain()
    }

    private func options() -> [Option] {
        var awake = fleet.hosts.filter { !$0.isStalled && $0.steps.contains { !$0.isHeldBack } }
        // The one that had the turn goes on.
        awake.sort { ($0.number == current ? 0 : 1, $0.number) < ($1.number == current ? 0 : 1, $1.number) }
        let talking = awake.compactMap { host in
            host.steps.first { !$0.isHeldBack && !$0.isPause }.map { (host, $0) }
        }
        let pausing = awake.flatMap { host in host.steps.map { (host, $0) } }.filter { $0.1.isPause }
        guard let first = talking.first ?? pausing.min(by: { $0.1.end < $1.1.end }) else { return released }
        var options = [Option.step(first.0, first.1, .goesOn)]
        if isUndisturbed { return options }
        for (host, step) in talking.dropFirst() { options.append(.step(host, step, .goesOn)) }
        for (index, _) in fleet.late.enumerated() { options.append(.arrives(index)) }
        for host in fleet.hosts where !host.isDead {
            if host.isStalled { options.append(.wake(host)) }
            for step in host.steps where step.isHeldBack && !host.isStalled {
                options.append(.deliver(host, step))
            }
        }
        if budget.stalls > 0 {
            options.append(.stall(first.0))
            if !first.1.isPause { options.append(.holdBack(first.0, first.1)) }
        }
        if budget.faults > 0, !first.1.isPause {
            options.append(.step(first.0, first.1, .isLost))
            if case .request(let text) = first.1.kind, text.hasPrefix("writes") {
                options.append(.step(first.0, first.1, .isLate))
            }
        }
        if budget.deaths > 0, !first.1.isPause { options.append(.death(first.0)) }
        return options
    }

    /// The hosts to let go on once every host that isn't held back has ended.
    private var released: [Option] {
        if let host = fleet.hosts.first(where: { $0.isStalled }) { return [.wake(host)] }
        for host in fleet.hosts {
            if let step = host.steps.first(where: { $0.isHeldBack }) { return [.deliver(host, step)] }
        }
        return fleet.late.isEmpty ? [] : [.arrives(0)]
    }

    private func perform(_ option: Option) {
        switch option {
        case .step(let host, let step, let fate):
            current = host.number
            if step.isPause {
                ghost.timePasses(to: step.end)
                fleet.time = max(fleet.time, step.end)
            }
            if fate == .isLost || fate == .isLate { budget.faults -= 1 }
            fleet.note("\(host.name) \(step.text)\(fate == .goesOn ? "" : ", which is lost")")
            host.resume(step, fate)
        case .arrives(let index):
            let write = fleet.late.remove(at: index)
            let isWritten = fleet.write(write) != nil
            fleet.note(
                "the late write of \(write.host.name) arrives, and is \(isWritten ? "done" : "refused")"
            )
        case .stall(let host):
            budget.stalls -= 1
            host.isStalled = true
            fleet.note("\(host.name) STALLS")
        case .wake(let host):
            host.isStalled = false
            fleet.note("\(host.name) goes on")
        case .holdBack(let host, let step):
            budget.stalls -= 1
            step.isHeldBack = true
            fleet.note("what \(host.name) \(step.text) IS HELD BACK")
        case .deliver(let host, let step):
            step.isHeldBack = false
            current = host.number
            fleet.note("\(host.name) \(step.text) at last")
            host.resume(step, .goesOn)
        case .death(let host):
            budget.deaths -= 1
            fleet.note("\(host.name) DIES")
            host.die()
            Jobs.drain()
            start(host.number, scenario.restart ?? scenario.last)
        }
    }

    private func choose(_ count: Int) -> Int? {
        if isUndisturbed { return 0 }
        if choices.isRepeating { return choices.repeated(among: count) }
        if !isTraced, !search.isNew(hash, left: choices.left) { return nil }
        return choices.begin(count, isFree: false, random: search.random(count))
    }

    /// Everything that decides how this execution can go on.
    private var hash: UInt64 {
        var hash = Machine.mix(fleet.documentHash, ghost.hash)
        hash = Machine.mix(hash, fleet.moment)
        hash = Machine.mix(hash, UInt64(current))
        for host in fleet.hosts {
            hash = Machine.mix(hash, host.history)
            hash = Machine.mix(
                hash,
                (host.isStalled ? 1 : 0) | (host.isDead ? 2 : 0) | (host.hasEnded ? 4 : 0)
            )
            for step in host.steps {
                hash = Machine.mix(hash, UInt64(step.number) << 1 | (step.isHeldBack ? 1 : 0))
            }
        }
        for write in fleet.late { hash = Machine.mix(hash, write.hash) }
        return Machine.mix(hash, UInt64(budget.deaths << 8 | budget.faults << 4 | budget.stalls))
    }
}

extension FleetHost.Step {
    var isPause: Bool { if case .pause = kind { true } else { false } }

    var end: Duration { if case .pause(let end) = kind { end } else { .zero } }

    var text: String {
        switch kind {
        case .pause: "has waited"
        case .request(let text), .answer(let text): text
        }
    }
}

import SimulatedSystem

/// One execution of a scenario: hands the turn from process to process, and lets things go wrong.
///
/// It is run again and again, each time with other choices. One thread at a time runs in it.
final class Execution: @unchecked Sendable {
    let scenario: Scenario
    let ghost: Ghost
    let slots: [Slot]
    let driver = Baton()
    var choices = Choices(allowance: 0)
    let search: Search
    var budget = Scenario.Budget()
    let prepared: SystemState

    /// Every call is refused until all programs have ended: this execution is over.
    var isAborting = false
    /// The programs run to their end without a choice.
    var isUndisturbed = true
    var trace: [String]?
    var depth = 0
    var lastShared: UInt64 = 0
    /// The process that unwinds, and the one that waits for it.
    var unwinding: (dead: Int, waiting: Int?)?

    init(_ scenario: Scenario, _ search: Search) {
        self.scenario = scenario
        self.search = search
        ghost = Ghost(scenario.versions, scenario.managers, late: scenario.late)
        slots = (0..<scenario.programs.count).map(Slot.init)
        Machine.system = SystemState()
        for number in slots.indices { Self.begin(number, start: 0) }
        ghost.reset(scenario.programs.count)
        Machine.current = 0
        scenario.setUp(ghost)
        Machine.changedNames = []
        Machine.system.end(0)
        if scenario.budget.powerLosses > 0 { Machine.system.disk.startTrackingSyncs() }
        prepared = Machine.system
        for slot in slots {
            Baton.startThread { [unowned self, slot] in
                while true {
                    // The execution may be released while the thread waits, and only the slot is left then.
                    slot.baton.wait()
                    self.work(slot)
                }
            }
        }
    }

    /// The system's side of a start.
    static func begin(_ number: Int, start: Int) {
        let process = SystemState.Process(number: Int32(100 + 10 * number + start), history: UInt64(start))
        while Machine.touches.count <= number { Machine.touches.append(SystemState.Touches()) }
        Machine.touches[number] = SystemState.Touches()
        if number == Machine.system.processes.count {
            Machine.system.processes.append(process)
        } else {
            Machine.system.processes[number] = process
        }
        ProcessMemory.reset(number)
    }

    /// Runs all programs to their end, by `choices`.
    func run() {
        Machine.system = prepared
        Machine.gate = self
        budget = scenario.budget
        ghost.reset(slots.count)
        ghost.look()
        (isAborting, isUndisturbed, depth, unwinding) = (false, false, 0, nil)
        for slot in slots {
            slot.reset()
            start(slot, scenario.programs[slot.number])
        }
        schedule(nil)
        driver.wait()
        if !isAborting { finish() }
        Machine.gate = nil
    }

    func start(_ slot: Slot, _ program: Scenario.Program) {
        let starts = slot.starts + 1
        slot.reset()
        slot.starts = starts
        slot.program = program
        slot.status = .ready
        Self.begin(slot.number, start: starts)
    }

    /// The undisturbed start at the end, and what must hold then.
    private func finish() {
        isUndisturbed = true
        note { "nothing disturbs the last start" }
        let slot = slots[0]
        start(slot, scenario.last)
        ghost.isLast = true
        turn(to: slot)
        slot.baton.pass()
        driver.wait()
        if ghost.violation == nil { scenario.atEnd(ghost) }
    }

    /// The thread of a slot, once it has the turn: runs its program, and says how it ended.
    private func work(_ slot: Slot) {
        while true {
            slot.isEntered = true
            slot.status = .running
            note { "starts: \(slot.program?.name ?? "")" }
            let ending = isRefusing(slot) ? "" : slot.program?.run(ghost) ?? ""
            slot.isEntered = false
            if !isRefusing(slot) { end(slot, ending) }
            if slot.isDead, !isAborting {
                if let unwinding, unwinding.dead == slot.number {
                    self.unwinding = nil
                    if let waiting = unwinding.waiting {
                        turn(to: slots[waiting])
                        slots[waiting].baton.pass()
                        return
                    }
                }
                revive(slot)
            }
            if isUndisturbed {
                driver.pass()
                return
            }
            // The scheduler either gives this thread another program, or has handed the turn over.
            if !schedule(slot) { return }
        }
    }

    private func isRefusing(_ slot: Slot) -> Bool { isAborting || slot.isDead }

    private func end(_ slot: Slot, _ ending: String) {
        slot.status = .finished
        note { "ends: \(ending)" }
        let isExpected =
            ghost.isLast
            ? ending == "done" : scenario.endings.contains(ending) || (ghost.isTroubled && ending != "")
        if !isExpected { ghost.fail("A process ended with \(ending), though nothing had gone wrong.") }
        Machine.system.end(slot.number)
        // Nothing of what it saw can matter any more.
        Machine.system.processes[slot.number].history = 0
    }

    /// After a death the next process starts at the same place.
    func revive(_ slot: Slot) { start(slot, scenario.restart ?? scenario.last) }

    func turn(to slot: Slot) {
        Machine.current = slot.number
        ProcessMemory.handOver(to: slot.number)
    }

    func note(_ text: () -> String) {
        if trace == nil { return }
        let slot = slots[Machine.current]
        trace?.append(
            "process \(slot.number + 1)" + (slot.starts > 1 ? ", start \(slot.starts)" : "") + ": " + text()
        )
    }
}

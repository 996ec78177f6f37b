import SimulatedSystem

/// The choice of the process that goes on.
extension Execution {
    private enum Option {
        case run(Slot)
        case stall(Slot)
    }

    /// Chooses what goes on, and hands the turn over; `caller` is the slot whose thread this is.
    ///
    /// Gives whether the caller's thread goes on, into its program or back into it. A caller inside of its program always
    /// does, once it has the turn again.
    @discardableResult
    func schedule(_ caller: Slot?) -> Bool {
        if isAborting { return unwindAll(caller) }
        if ghost.violation != nil { return abort(caller) }
        var options: [Option] = []
        let first = caller?.number ?? 0
        for offset in slots.indices {
            let slot = slots[(first + offset) % slots.count]
            if isEnabled(slot) { options.append(.run(slot)) }
        }
        let isStuck = options.isEmpty
        if budget.stalls > 0 {
            for slot in slots where slot.status == .sleeping { options.append(.stall(slot)) }
        }
        if isStuck, options.isEmpty {
            if slots.contains(where: { $0.status == .sleeping }) {
                ghost.fail("Every process that is left waits, and nothing can end the wait.")
                return abort(caller)
            }
            return endOfAll(caller)
        }
        var index = 0
        if options.count > 1 {
            // Where the caller can't go on, to hand over is no deviation.
            let isFree = caller.map { !isEnabled($0) } ?? true
            guard let choice = choose(options.count, isFree: isFree, salt: 1) else { return abort(caller) }
            index = choice
        }
        switch options[index] {
        case .run(let slot): return hand(slot, from: caller)
        case .stall(let slot):
            budget.stalls -= 1
            ghost.isTroubled = true
            slot.isStalling = true
            slot.polls = 0
            return hand(slot, from: caller)
        }
    }

    private func isEnabled(_ slot: Slot) -> Bool {
        switch slot.status {
        case .ready, .running: true
        case .sleeping: slot.seen != Machine.system.hashOfTouches(slot.number)
        case .idle, .finished: false
        }
    }

    private func hand(_ slot: Slot, from caller: Slot?) -> Bool {
        turn(to: slot)
        if slot === caller { return true }
        slot.baton.pass()
        guard let caller, caller.isEntered else { return false }
        caller.baton.wait()
        return true
    }

    private func endOfAll(_ caller: Slot?) -> Bool {
        if budget.powerLosses > 0 {
            guard let choice = choose(2, salt: 30) else { return abort(caller) }
            if choice == 1 {
                losePower()
                revive(slots[0])
                return schedule(caller)
            }
        }
        driver.pass()
        return false
    }

    /// Ends this execution: every program is led to its end by refusals.
    func abort(_ caller: Slot?) -> Bool {
        isAborting = true
        return unwindAll(caller)
    }

    private func unwindAll(_ caller: Slot?) -> Bool {
        // A caller inside of its program goes on first, refused; the next comes when it has ended.
        if let caller, caller.isEntered { return true }
        if let next = slots.first(where: { $0.isEntered }) {
            turn(to: next)
            next.baton.pass()
            return false
        }
        driver.pass()
        return false
    }

    /// Chooses among `count`; `nil` where this state was searched before.
    ///
    /// With a salt of 0 it isn't looked up.
    func choose(_ count: Int, isFree: Bool = false, salt: UInt64) -> Int? {
        if choices.isRepeating { return choices.repeated(among: count) }
        if salt != 0, trace == nil, !search.isNew(Machine.mix(stateHash, salt), left: choices.left) {
            return nil
        }
        return choices.begin(count, isFree: isFree, random: search.random(count))
    }

    /// Everything that decides how this execution can go on.
    private var stateHash: UInt64 {
        var hash = Machine.mix(Machine.system.sharedHash, ghost.hash)
        hash = Machine.mix(hash, UInt64(bitPattern: Machine.system.awake))
        for slot in slots {
            hash = Machine.mix(hash, Machine.system.processes[slot.number].history)
            let status: UInt64 =
                switch slot.status {
                case .idle: 0
                case .ready: 1
                case .running: 2
                case .sleeping: 3
                case .finished: 4
                }
            hash = Machine.mix(hash, status << 8 | UInt64(slot.starts))
            if slot.status == .sleeping { hash = Machine.mix(hash, slot.seen) }
        }
        let left = budget.deaths << 12 | budget.powerLosses << 8 | budget.faults << 4 | budget.stalls
        return Machine.mix(hash, UInt64(left))
    }
}

import SimulatedSystem

/// Deaths, failing calls and power losses.
extension Execution {
    /// Lets one of the processes die after a call; a death before the next call that others can see is the same one.
    func diePerhaps(_ candidates: [Slot]) {
        if budget.deaths == 0 || candidates.isEmpty || isAborting { return }
        let caller = slots[Machine.current]
        guard let choice = choose(candidates.count + 1, salt: 2 + UInt64(caller.number)) else {
            isAborting = true
            return
        }
        if choice == 0 { return }
        budget.deaths -= 1
        let dead = candidates[choice - 1]
        kill(dead)
        if dead !== caller { unwind(dead, for: caller) }
    }

    private func kill(_ slot: Slot) {
        ghost.isTroubled = true
        if trace != nil { trace?.append("process \(slot.number + 1) DIES") }
        slot.isDead = true
        slot.isStalling = false
        Machine.system.end(slot.number)
        ghost.died(slot.number)
    }

    /// Leads the program of a process that died to its end, and starts the next one.
    private func unwind(_ dead: Slot, for caller: Slot) {
        if dead.isEntered {
            unwinding = (dead.number, caller.number)
            turn(to: dead)
            dead.baton.pass()
            caller.baton.wait()
        }
        revive(dead)
        turn(to: caller)
    }

    /// Lets the power fail: all processes die, and what wasn't synced is lost in part.
    ///
    /// Only before a sync, before what an app does and at the end: any moment since the last of these could leave nothing
    /// that this one can't.
    func losePowerPerhaps(_ caller: Slot) -> Int32? {
        if budget.powerLosses == 0 { return nil }
        guard let choice = choose(2, salt: 20 + UInt64(caller.number)) else {
            isAborting = true
            return EIO
        }
        if choice == 0 { return nil }
        for slot in slots {
            if slot.status == .finished || slot.status == .idle { continue }
            slot.isDead = true
            Machine.system.end(slot.number)
            ghost.died(slot.number)
            if slot !== caller {
                let entered = slot.isEntered
                if entered {
                    unwinding = (slot.number, caller.number)
                    turn(to: slot)
                    slot.baton.pass()
                    caller.baton.wait()
                }
                turn(to: caller)
                slot.isDead = false
                slot.status = .finished
            }
        }
        losePower()
        return EIO
    }

    func losePower() {
        budget.powerLosses -= 1
        trace?.append("THE POWER FAILS")
        ghost.isTroubled = true
        Machine.system.disk.losePower { count in choose(count, isFree: true, salt: 0) ?? 0 }
        trace?.append(contentsOf: Machine.system.disk.listing)
        ghost.lostPower()
    }

    /// The error that a call fails with, once in an execution.
    func failPerhaps(_ call: Call) -> Int32? {
        if budget.faults == 0 { return nil }
        let numbers = call.faults
        if numbers.isEmpty { return nil }
        guard let choice = choose(numbers.count + 1, salt: 40 + UInt64(Machine.current)) else {
            isAborting = true
            return EIO
        }
        if choice == 0 { return nil }
        budget.faults -= 1
        if numbers[choice - 1] != EINTR { ghost.isTroubled = true }
        return numbers[choice - 1]
    }
}

extension Call {
    /// The errors that it may fail with on a disk that is full or broken, or by a signal.
    var faults: [Int32] {
        switch kind {
        case .create, .makeFolder: [EINTR, ENOSPC, EIO]
        case .open, .openFolder: [EINTR, EIO]
        case .write: [EINTR, ENOSPC, EIO]
        case .read, .synchronize, .synchronizeAll: [EINTR, EIO]
        case .rename, .unlink, .removeFolder, .makeLink, .list, .setAttributes, .truncate, .lookUp, .status:
            [EIO]
        case .lock: [EINTR, ENOLCK]
        default: []
        }
    }
}

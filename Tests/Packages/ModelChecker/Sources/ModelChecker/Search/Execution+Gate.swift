import SimulatedSystem

extension Execution: Gate {
    func begin(_ call: Call) -> Int32 {
        let slot = slots[Machine.current]
        if isAborting || slot.isDead { return EIO }
        if isUndisturbed {
            if call.isTold { note(call.text) }
            return call.kind == .pause ? poll(slot, call) : 0
        }
        if slot.isStalling, !call.isOfPoll { slot.isStalling = false }
        if call.kind == .pause { return pause(slot, call) }
        // Each wait begins with the opening of a lock's file.
        if call.kind == .create { Machine.touches[slot.number] = SystemState.Touches() }
        if slot.isStalling {
            if call.isTold { note(call.text) }
            return 0
        }
        if call.isSync || call.kind == .mark, let number = losePowerPerhaps(slot) { return number }
        if isChoice(call) {
            slot.pending = call
            schedule(slot)
            if isAborting || slot.isDead { return EIO }
        }
        depth += 1
        search.transitions += 1
        if let number = failPerhaps(call) {
            note { call.text() + " — fails with error \(number)" }
            return number
        }
        if call.isTold { note(call.text) }
        return 0
    }

    func end(_ call: Call, _ result: Int, _ number: Int32) {
        let slot = slots[Machine.current]
        if isAborting || slot.isDead { return }
        if trace != nil, number != 0, call.isTold { note { "  … which gives error \(number)" } }
        if number == 0, slot.program?.isLooking == true, call.isEffect, call.kind != .close {
            ghost.fail("A manager that only looks changes nothing, and takes no lock: \(call.text()).")
        }
        let isEffect = number == 0 && call.isEffect && hasChanged
        if isEffect { ghost.look() }
        if isUndisturbed { return }
        if call.kind == .lock { slot.isRefusedLock = number == EWOULDBLOCK }
        if call.kind == .close, call.node == slot.waitedFor { slot.historyOfWait = nil }
        if isEffect, call.kind != .lock, call.kind != .unlock { slot.historyOfWait = nil }
        if slot.isStalling { return }
        if ghost.violation != nil { return }
        if isEffect {
            diePerhaps([slot])
        } else if call.kind == .lock, number == EWOULDBLOCK {
            slot.waitedFor = call.node
            diePerhaps(slots.filter { $0 !== slot && $0.isEntered })
        }
    }

    /// True if anything is there that wasn't when this was asked last.
    private var hasChanged: Bool {
        let hash = Machine.mix(Machine.system.sharedHash, ghost.hash)
        defer { lastShared = hash }
        return hash != lastShared
    }

    /// A wait of the last start, which nothing can end but the lock.
    private func poll(_ slot: Slot, _ call: Call) -> Int32 {
        slot.polls += 1
        Machine.system.awake += Int64(call.node)
        if slot.polls < 5_000 { return 0 }
        ghost.fail("The last start waits for ever.")
        isAborting = true
        return EIO
    }

    /// A wait ends when what the processes share has changed since the waiting one looked; or it stalls, and goes on polling
    /// until it gives up.
    private func pause(_ slot: Slot, _ call: Call) -> Int32 {
        if slot.isStalling {
            slot.polls += 1
            // Longer than any time-out; a wait that counts its polls instead ends by their number.
            Machine.system.awake += 3_600_000_000_000
            if slot.polls < 250 { return 0 }
            slot.isStalling = false
            slot.polls = 0
        }
        // A pause after which the process would do something else, since the lock's file was another one, is no wait.
        if !slot.isRefusedLock, slot.polls < 300 {
            slot.polls += 1
            schedule(slot)
            return isAborting || slot.isDead ? EIO : 0
        }
        slot.isRefusedLock = false
        let history = Machine.system.processes[slot.number].history
        if let earlier = slot.historyOfWait {
            Machine.system.processes[slot.number].history = earlier
        } else {
            slot.historyOfWait = history
        }
        slot.status = .sleeping
        slot.seen = Machine.touches[slot.number].hash
        note { "waits" }
        schedule(slot)
        if isAborting || slot.isDead { return EIO }
        slot.status = .running
        Machine.touches[slot.number] = SystemState.Touches()
        return 0
    }

    /// True if others may see the call, or its answer depends on others: the scheduler chooses before it.
    ///
    /// Every other call commutes with those of other processes. Where a search finds that it doesn't, since a name was
    /// changed after all or a file was shared while it was written, it begins again and takes that into account.
    private func isChoice(_ call: Call) -> Bool {
        switch call.kind {
        case .read, .close, .status, .clock, .readLink: false
        case .write, .truncate, .setAttributes: search.isAnyFileShared
        case .synchronize, .synchronizeAll: Machine.system.disk.isTrackingSyncs
        case .open, .openFolder, .lookUp: call.path.map(search.isContended) ?? true
        default: true
        }
    }
}

extension Call {
    /// True if a trace shows the call: one that only looks tells a reader little, unless it reads.
    var isTold: Bool {
        switch kind {
        case .open, .openFolder, .close, .status, .lookUp, .list, .readLink, .clock, .pause: false
        default: true
        }
    }

    /// True if a wait for a lock makes this call between two pauses.
    var isOfPoll: Bool {
        switch kind {
        case .lock, .unlock, .status, .lookUp, .open, .openFolder, .close, .create, .pause: true
        default: false
        }
    }

    /// True if the call may change things that the processes share.
    var isEffect: Bool {
        switch kind {
        case .create, .write, .rename, .unlink, .makeFolder, .removeFolder, .makeLink, .setAttributes,
            .truncate,
            .lock, .unlock, .mark, .close:
            true
        default: false
        }
    }

    var isSync: Bool { kind == .synchronize || kind == .synchronizeAll }
}

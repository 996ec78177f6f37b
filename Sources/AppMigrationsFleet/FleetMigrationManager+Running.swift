internal import AppMigrations

extension FleetMigrationManager {
    /// Declares a migration, and does its work where there is something to run.
    nonisolated(nonsending) func perform(
        _ text: String,
        _ minimumAppVersion: String?,
        _ work: nonisolated(nonsending) (FleetAttempt) async throws(MigrationError) -> Void
    ) async throws(MigrationError) -> Bool {
        // A version that has run already is passed over without suspending the task.
        if minimumAppVersion == nil, let version = AppVersion(text),
            declarations.withLock({ $0.passes(version) })
        {
            return false
        }
        guard let declaration = try await declare(text, minimumAppVersion) else { return false }
        defer { declarations.withLock { $0.end() } }
        var attempt: FleetAttempt?
        do throws(MigrationError) {
            guard let begun = try await begin(declaration) else { return false }
            attempt = begun
            try await begun.holder.refresh()
            send(begun.event(.started))
            try await work(begun)
            know(begun.holder.state)
            send(begun.event(.finished))
            return true
        } catch {
            declarations.withLock { $0.close(error) }
            if let attempt { send(attempt.event(.failed, error)) }
            throw error
        }
    }

    func wait(for version: AppVersion? = nil, timeout: Duration?) -> LeaseWait {
        LeaseWait(stored: stored, version: version, timeout: timeout, patience: options.leaseLength) {
            self.send($0)
        }
    }

    /// The end of a look at the state.
    enum Step<Value> {
        case ended(Value)
        /// Another host has the lease.
        case waits
        case refused(StoredState.Found)

        init(_ outcome: StoredState.Outcome, _ value: Value) {
            switch outcome {
            case .saved: self = .ended(value)
            case .refused(let now): self = .refused(now)
            }
        }
    }

    /// Looks at the state until a step by what it says has ended.
    func looking<Value>(
        for version: AppVersion? = nil,
        _ step: (StoredState.Found) async throws(MigrationError) -> Step<Value>
    ) async throws(MigrationError) -> Value {
        var wait = wait(for: version, timeout: options.lockTimeout)
        while true {
            let found = try await wait.look()
            switch try await step(found) {
            case .ended(let value): return value
            case .waits: try await wait.pause(for: found.holder)
            case .refused(let now): try await wait.pauseIfUnchanged(now, since: found)
            }
        }
    }

    /// Decides by what the store says, and takes the lease; `nil` when there is nothing to run any more.
    ///
    /// The lease is taken by replacing the very document that the decision was made by.
    private func begin(
        _ declaration: Declarations.Declaration
    ) async throws(MigrationError) -> FleetAttempt? {
        let version = declaration.version
        return try await looking(for: version) { found throws(MigrationError) in
            let state = try existing(found)
            let decision = try decide(declaration, state, isHeld: found.isHeld)
            guard case .run(let known) = decision else {
                let settled = declarations.withLock { $0.settling(state, declaration, decision) }
                if settled != nil, found.isHeld { return .waits }
                guard let settled else {
                    know(state)
                    return .ended(nil)
                }
                let consequence = decision.consequenceOfNotSaving
                let outcome = try await stored.save(settled, version, at: found.revision, else: consequence)
                if case .saved = outcome { know(settled) }
                return Step(outcome, nil)
            }
            if found.isHeld { return .waits }
            let lease = Lease(owner, fence: found.fence + 1, length: options.leaseLength)
            let attempt = Interruption(known, at: clock.now(), lease)
            let intent = state.beginning(attempt, minimumAppVersion: declaration.minimumAppVersion)
            let sent = clock.uptime()
            let outcome = try await stored.save(claiming: intent, over: state, version, at: found.revision)
            let standing: FleetRevision? =
                switch outcome {
                case .saved(let revision): revision
                case .refused(let now): now.lease.map { $0.isOfHolder(lease) } == true ? now.revision : nil
                }
            guard let standing else { return Step(outcome, nil) }
            know(intent)
            let holder = LeaseHolder(intent, lease, at: standing, since: sent, of: version, in: stored)
            return .ended(FleetAttempt(holder, attempt.known, by: self))
        }
    }

    private func decide(
        _ declaration: Declarations.Declaration,
        _ state: MigrationState,
        isHeld: Bool
    ) throws(MigrationError) -> MigrationDecision {
        try declarations.withLock { declarations throws(MigrationError) in
            // While its lease stands, an attempt is no death.
            try declarations.decide(declaration, state.marks, limit: isHeld ? nil : options.attemptLimit)
        }
    }

    func know(_ state: MigrationState) { declarations.withLock { $0.marks = state.marks } }

    /// The state, which was there when the manager was made.
    func existing(_ found: StoredState.Found) throws(MigrationError) -> MigrationState {
        if let state = found.state { return state }
        if found.revision != nil { throw .gone(location) }
        throw .gone(location).adding(
            "Its fences begin again with 1 then, and what refuses lower ones has to forget its highest."
        )
    }

    /// True if this manager takes a state for given that isn't there yet.
    var isPresuming: Bool { options.isReadOnly && launch == .first }

    /// The state as it stands, or as this manager takes it to be where there is none yet.
    func known(_ found: StoredState.Found) throws(MigrationError) -> MigrationState {
        if found.state == nil, isPresuming {
            return MigrationState(name, declarations.withLock { $0.marks })
        }
        return try existing(found)
    }
}

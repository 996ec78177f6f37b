internal import AppMigrations

extension FleetMigrationManager {
    nonisolated(nonsending) func perform(
        _ declaration: Declarations.Declaration,
        _ work: nonisolated(nonsending) (FleetAttempt) async throws(MigrationError) -> Void
    ) async throws(MigrationError) -> Bool {
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

    func wait(for version: AppVersion?) -> LeaseWait { wait(for: version, timeout: options.lockTimeout) }

    func wait(for version: AppVersion?, timeout: Duration?) -> LeaseWait {
        LeaseWait(location, version, timeout: timeout, patience: options.leaseLength, clock) { self.send($0) }
    }

    /// Decides by what the store says, and takes the lease; `nil` when there is nothing to run any more.
    ///
    /// The lease is taken by replacing the very document that the decision was made by.
    private func begin(
        _ declaration: Declarations.Declaration
    ) async throws(MigrationError) -> FleetAttempt? {
        let version = declaration.version
        var wait = wait(for: version)
        while true {
            let (found, isHeld) = try await wait.look(stored)
            let state = try existing(found)
            let decision = try decide(declaration, state, isHeld: isHeld)
            guard case .run(let number, let deaths) = decision else {
                let settled = declarations.withLock { $0.settling(state, declaration, decision) }
                guard let settled else {
                    know(state)
                    return nil
                }
                if isHeld {
                    try await wait.pause(for: found.lease?.owner ?? "another host")
                    continue
                }
                let outcome = try await stored.save(
                    settled,
                    version,
                    at: found.revision,
                    else: decision.consequenceOfNotSaving
                )
                if case .saved = outcome {
                    know(settled)
                    return nil
                }
                try await wait.pauseIfUnchanged(outcome, since: found)
                continue
            }
            if isHeld {
                try await wait.pause(for: found.lease?.owner ?? "another host")
                continue
            }
            let claim = FleetAttempt.Claim(
                version,
                number,
                deaths: deaths,
                found.fence + 1,
                state,
                minimumAppVersion: declaration.minimumAppVersion,
                by: self
            )
            let sent = clock.uptime()
            let outcome = try await stored.save(
                claiming: claim.intent,
                over: state,
                version,
                at: found.revision
            )
            if let revision = claim.revision(of: outcome) {
                know(claim.intent)
                return FleetAttempt(claim, at: revision, since: sent, by: self)
            }
            try await wait.pauseIfUnchanged(outcome, since: found)
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

    /// The state as it stands, or as this manager takes it to be where there is none yet.
    func known(_ found: StoredState.Found) throws(MigrationError) -> MigrationState {
        if found.state == nil, options.isReadOnly, launch == .first {
            return MigrationState(name, declarations.withLock { $0.marks })
        }
        return try existing(found)
    }
}

extension LeaseWait {
    /// Lets some time pass where the store refused a document that nobody has changed: another host is about to.
    mutating func pauseIfUnchanged(
        _ outcome: StoredState.Outcome,
        since found: StoredState.Found
    ) async throws(MigrationError) {
        guard case .refused(let now) = outcome, now.revision == found.revision else { return }
        try await pause(for: now.lease?.owner ?? "another host")
    }
}

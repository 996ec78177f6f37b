internal import AppMigrations

extension FleetMigrationManager {
    /// Runs a declaration.
    ///
    /// If it has to run, takes the lease, calls `work`, and sends the events.
    ///
    /// An error in any of these steps closes the manager. Returns true if the closure was called here.
    nonisolated(nonsending) func perform(
        _ declaration: Declaration,
        work: nonisolated(nonsending) (FleetAttempt) async throws(MigrationError) -> Void
    ) async throws(MigrationError) -> Bool {
        if declaration.isDecidedByVersion, let version = declaration.version,
            declarations.withLock({ $0.takeShortcut(for: version) })
        {
            return false
        }
        guard let declared = try await declare(declaration) else { return false }
        defer { declarations.withLock { $0.endDeclaration() } }
        var attempt: FleetAttempt?
        do throws(MigrationError) {
            guard let begun = try await begin(declared) else { return false }
            attempt = begun
            // If taking the lease took long, another host may be about to take over. So renew it first.
            while begun.holder.timeToLastTry <= .zero { try await begun.holder.save() }
            send(begun.event(.started))
            try await work(begun)
            update(from: begun.holder.state)
            send(begun.event(.finished))
            return begun.callsClosure
        } catch {
            // After an attempt has begun, its error already says what happened to the migration.
            let failure = attempt == nil ? error.leaving(.migration(declared.version)) : error
            declarations.withLock { _ = $0.close(failure) }
            if let attempt { send(attempt.event(.failed, error: failure)) }
            throw failure
        }
    }

    /// Reads the state and calls `step` with it, until `step` returns `.saved`.
    ///
    /// If `step` returns `.refused`, another host may have been faster, and the state is read again. If it
    /// returns `nil`, this first waits for the host that has the lease.
    func repeatUntilSaved(
        for version: AppVersion? = nil,
        _ step: (StateRepository.Found) async throws(MigrationError) -> StateRepository.SaveOutcome?
    ) async throws(MigrationError) {
        var wait = LeaseWait(manager: self, version: version, timeout: options.lockTimeout)
        while true {
            let found = try await wait.readOutsideClosure()
            switch try await step(found) {
            case .saved: return
            case .refused(let current): try await wait.pauseIfUnchanged(current, since: found)
            case nil: try await wait.pause(for: found.holderName)
            }
        }
    }

    /// Saves `next` if no host is migrating, and returns `nil` if one is.
    ///
    /// If the store has this state already, nothing is written.
    func save(
        _ next: MigrationState,
        over found: StateRepository.Found,
        version: AppVersion? = nil,
        else consequence: Message
    ) async throws(MigrationError) -> StateRepository.SaveOutcome? {
        if next == found.state, let revision = found.revision { return .saved(revision) }
        if found.isLeaseHeld { return nil }
        return try await repository.save(
            next,
            version: version,
            ifRevision: found.revision,
            else: consequence
        )
    }

    /// Decides from the state in the store whether the migration has to run.
    ///
    /// If so, takes the lease and returns the attempt; otherwise returns `nil`.
    ///
    /// The lease is taken by replacing the same document from which the decision was made. So nothing can
    /// change between the two.
    private func begin(
        _ declared: DeclaredMigration
    ) async throws(MigrationError) -> FleetAttempt? {
        let version = declared.version
        var begun: FleetAttempt?
        try await repeatUntilSaved(for: version) { found throws(MigrationError) in
            let state = try requireState(in: found)
            let seen = lastRunVersion
            if state.versions.lastRun < seen {
                throw location.stateBehind(state.versions.lastRun, seen: seen, version: version)
            }
            // An attempt whose lease has not expired doesn't count as a crash.
            let limit = found.isLeaseHeld ? nil : options.attemptLimit
            let applied = declared.addedIn == nil ? nil : try state.appliedVersions(at: location)
            let decision = try declarations.withLock { declarations throws(MigrationError) in
                try declarations.decide(
                    declared,
                    in: state.versions,
                    hasRun: declared.hasRun(applied),
                    attemptLimit: limit
                )
            }
            guard case .run(let lastAttempt) = decision else {
                let settled =
                    declarations.withLock { $0.stateToSaveIfNotRun(declared, by: decision, from: state) }
                    ?? state
                let consequence = decision.outcomeOfNotSaving(version)
                let outcome = try await save(settled, over: found, version: version, else: consequence)
                if case .saved = outcome { update(from: settled) }
                return outcome
            }
            if found.isLeaseHeld { return nil }
            let (outcome, attempt) = try await takeLease(
                for: declared,
                after: lastAttempt,
                over: found,
                state: state
            )
            begun = attempt
            return outcome
        }
        return begun
    }

    /// Tries to take the lease, and returns the attempt if this host has the lease now.
    private func takeLease(
        for declared: DeclaredMigration,
        after attempted: AttemptedMigration,
        over found: StateRepository.Found,
        state: MigrationState
    ) async throws(MigrationError) -> (StateRepository.SaveOutcome, FleetAttempt?) {
        let version = declared.version
        let lease = Lease(
            owner: configuration.makeOwner(),
            fence: found.record.fence + 1,
            length: options.leaseLength
        )
        var intent = state
        do throws(JSONError) {
            try intent.begin(
                LatestAttempt(attempted, at: clock.now()),
                minimumAppVersion: declared.minimumAppVersion
            )
        } catch {
            throw .corrupted(location, because: error)
        }
        LeaseRecord(lease).write(to: &intent)
        let sent = clock.uptime()
        let outcome = try await repository.takeLease(
            with: intent,
            fence: lease.fence,
            over: state,
            version: version,
            ifRevision: found.revision
        )
        // The revision of the document that has this lease.
        let leaseRevision: FleetRevision? =
            switch outcome {
            case .saved(let revision): revision
            // The store may have reported that the save of the lease failed, and carried it out late. Then it
            // refused the second save, which has no lease, and this host has the lease.
            case .refused(let current):
                current.lease.map { $0.isSameLease(as: lease) } == true ? current.revision : nil
            }
        guard let leaseRevision else { return (outcome, nil) }
        update(from: intent)
        let holder = LeaseHolder(
            of: lease,
            for: version,
            in: repository,
            savedWith: intent,
            as: leaseRevision,
            sent: sent
        )
        let context = FleetMigrationContext(
            previousVersion: state.versions.lastRun,
            initialAttempt: attempted,
            holder: holder,
            onEvent: options.onEvent
        )
        return (.saved(leaseRevision), FleetAttempt(context))
    }

    /// Updates this manager's versions from a state that was read or saved.
    func update(from state: MigrationState) { declarations.withLock { $0.update(from: state.versions) } }

    func requireState(in found: StateRepository.Found) throws(MigrationError) -> MigrationState {
        if let state = found.state { return state }
        throw location.stateBehind(nil, seen: lastRunVersion, version: nil)
    }

    /// True if this is a read-only manager that has found no state, and so assumes the state that the first
    /// run would create.
    var hasAssumedState: Bool { options.isReadOnly && launch == .first }

    /// The state in the store.
    ///
    /// If the store has no state, a read-only manager returns the state that a first run would create, and
    /// any other manager throws.
    func stateOrAssumed(in found: StateRepository.Found) throws(MigrationError) -> MigrationState {
        if found.state == nil, hasAssumedState {
            return MigrationState(name: name, versions: declarations.withLock { $0.versions })
        }
        return try requireState(in: found)
    }
}

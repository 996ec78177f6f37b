internal import AppMigrations

extension FleetMigrationManager {
    nonisolated(nonsending) func perform(
        _ text: String,
        outOfOrder: Bool,
        minimumAppVersion: String?,
        work: nonisolated(nonsending) (FleetAttempt) async throws(MigrationError) -> Void
    ) async throws(MigrationError) -> Bool {
        if minimumAppVersion == nil, !outOfOrder, let version = AppVersion(text),
            declarations.withLock({ $0.takeShortcut(for: version) })
        {
            return false
        }
        let declaration = try await declare(
            text,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        )
        guard let declaration else { return false }
        defer { declarations.withLock { $0.endDeclaration() } }
        var attempt: FleetAttempt?
        do throws(MigrationError) {
            guard let begun = try await begin(declaration) else { return false }
            attempt = begun
            // If the lease took long to come, another host may be about to take over.
            while begun.holder.timeToLastTry <= .zero { try await begun.holder.save() }
            send(begun.event(.started))
            try await work(begun)
            know(begun.holder.state)
            send(begun.event(.finished))
            return true
        } catch {
            // Once an attempt was begun, the error says what became of the migration.
            let failure = attempt == nil ? error.completed(declaring: declaration.version) : error
            declarations.withLock { $0.close(failure) }
            if let attempt { send(attempt.event(.failed, failure)) }
            throw failure
        }
    }

    /// Looks at the state until a step by what it says has ended; one that gives nothing waits for the holder
    /// of the lease.
    func looking(
        for version: AppVersion? = nil,
        _ step: (StoredState.Found) async throws(MigrationError) -> StoredState.Outcome?
    ) async throws(MigrationError) {
        var wait = LeaseWait(manager: self, version: version, timeout: options.lockTimeout)
        while true {
            let found = try await wait.look()
            switch try await step(found) {
            case .saved: return
            case .refused(let now): try await wait.pauseIfUnchanged(now, since: found)
            case nil: try await wait.pause(for: found.holder)
            }
        }
    }

    /// Saves another state while no host is migrating, unless it stands there.
    func save(
        _ next: MigrationState,
        over found: StoredState.Found,
        _ version: AppVersion? = nil,
        else consequence: Message
    ) async throws(MigrationError) -> StoredState.Outcome? {
        if next == found.state, let revision = found.revision { return .saved(revision) }
        if found.isHeld { return nil }
        return try await stored.save(next, version, at: found.revision, else: consequence)
    }

    /// Decides by what the store says, and takes the lease; `nil` when there is nothing to run any more.
    ///
    /// The lease is taken by replacing the very document that the decision was made by.
    private func begin(
        _ declaration: Declarations.Declaration
    ) async throws(MigrationError) -> FleetAttempt? {
        let version = declaration.version
        var begun: FleetAttempt?
        try await looking(for: version) { found throws(MigrationError) in
            let state = try existing(found)
            // While its lease stands, an attempt is no death.
            let limit = found.isHeld ? nil : options.attemptLimit
            let decision = try declarations.withLock { declarations throws(MigrationError) in
                try declarations.decide(
                    declaration,
                    in: state.versions,
                    hasRun: state.hasRun(declaration),
                    attemptLimit: limit
                )
            }
            guard case .run(let known) = decision else {
                let settled =
                    declarations.withLock { $0.stateToSaveIfNotRun(declaration, by: decision, from: state) }
                    ?? state
                let consequence = decision.consequenceOfNotSaving(version)
                let outcome = try await save(settled, over: found, version, else: consequence)
                if case .saved = outcome { know(settled) }
                return outcome
            }
            if found.isHeld { return nil }
            let lease = Lease(owner: place.makeOwner(), fence: state.fence + 1, length: options.leaseLength)
            let attempt = Interruption(known, at: clock.now(), lease: lease)
            let intent = state.beginningAttempt(attempt, minimumAppVersion: declaration.minimumAppVersion)
            let sent = clock.uptime()
            let outcome = try await stored.save(claiming: intent, over: state, version, at: found.revision)
            let standing: FleetRevision? =
                switch outcome {
                case .saved(let revision): revision
                case .refused(let now):
                    now.lease.map { $0.isSameLease(as: lease) } == true ? now.revision : nil
                }
            guard let standing else { return outcome }
            know(intent)
            let progress = LeaseHolder.Progress(state: intent, revision: standing, renewed: sent)
            let holder = LeaseHolder(stored, version, lease, progress)
            let last = state.versions.lastRun
            let began = attempt.attempt
            let onEvent = options.onEvent
            begun = FleetAttempt(.init(previousVersion: last, began: began, holder: holder, onEvent: onEvent))
            return .saved(standing)
        }
        return begun
    }

    func know(_ state: MigrationState) { declarations.withLock { $0.update(from: state) } }

    func existing(_ found: StoredState.Found) throws(MigrationError) -> MigrationState {
        if let state = found.state { return state }
        throw .gone(location, isOfFleet: true)
    }

    /// True if this manager takes a state for given that isn't there yet.
    var isPresuming: Bool { options.isReadOnly && launch == .first }

    /// The state as it stands, or as this manager takes it to be where there is none yet.
    func known(_ found: StoredState.Found) throws(MigrationError) -> MigrationState {
        if found.state == nil, isPresuming {
            return MigrationState(name: name, versions: declarations.withLock { $0.versions })
        }
        return try existing(found)
    }
}

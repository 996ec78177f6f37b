internal import AppMigrations

/// One attempt of this host at one migration, under a lease: the closure, then the record or the note that it failed.
final class FleetAttempt: Sendable {
    let context: FleetMigrationContext
    let holder: LeaseHolder
    let clock: FleetClock
    private let token: RunToken
    private let duration = Guarded<Duration?>(nil)
    /// True if the store's server tells of the processes of this attempt's connection; `nil` before it was asked.
    let tellsOfProcesses = Guarded<Bool?>(nil)

    /// The lease that is asked for: it stands once the intent is in the store.
    struct Claim {
        let intent: MigrationState
        fileprivate let before: MigrationState
        fileprivate let interruption: Interruption
        fileprivate let lease: Lease

        init(
            _ version: AppVersion,
            _ attempt: Int,
            deaths: Int,
            _ fence: Int,
            _ state: MigrationState,
            minimumAppVersion: AppVersion,
            by manager: FleetMigrationManager
        ) {
            before = state
            lease = Lease(owner: manager.owner, beat: 0, fence: fence, length: manager.options.leaseLength)
            interruption = Interruption(
                state.marks.attempt(attempt, at: version, deaths: deaths, by: manager.currentVersion),
                startedAt: manager.clock.now(),
                lease: lease
            )
            var intent = state.beginning(interruption, minimumAppVersion: minimumAppVersion)
            intent.fence = fence
            self.intent = intent
        }

        /// The revision at which the lease stands; `nil` where it was refused.
        func revision(of outcome: StoredState.Outcome) -> FleetRevision? {
            switch outcome {
            case .saved(let revision): revision
            case .refused(let found): found.lease.map { $0.isOfHolder(lease) } == true ? found.revision : nil
            }
        }
    }

    init(_ claim: Claim, at revision: FleetRevision, since sent: Duration, by manager: FleetMigrationManager)
    {
        clock = manager.clock
        let interruption = claim.interruption
        holder = LeaseHolder(
            claim.intent,
            claim.lease,
            at: revision,
            since: sent,
            of: interruption.version,
            in: manager.stored,
            manager.clock
        )
        context = FleetMigrationContext(
            version: interruption.version,
            previousVersion: claim.before.marks.lastRun,
            attempt: interruption.known.attempts,
            fence: claim.lease.fence,
            began: interruption.known,
            holder: holder,
            onEvent: manager.options.onEvent
        )
        token = manager.token()
    }

    /// Calls the closure; its error is given, not thrown.
    nonisolated(nonsending) func call(
        onLoss: @escaping @Sendable () async -> Void = {},
        _ body: nonisolated(nonsending) (FleetMigrationContext) async throws -> Void
    ) async -> (any Error)? {
        await measuring { await holder.supervise(onLoss: onLoss) { try await body(context) } }
    }

    /// Measures a closure, and marks its task.
    nonisolated(nonsending) func measuring(
        _ body: nonisolated(nonsending) () async -> (any Error)?
    ) async -> (any Error)? {
        let began = clock.uptime()
        defer {
            token.end()
            duration.withLock { $0 = max(.zero, clock.uptime() - began) }
        }
        return await RunToken.$current.withValue(token) { await body() }
    }

    /// Records that the closure returned, or notes that it threw; of a lost lease nothing is saved.
    func finish(_ failure: (any Error)?) async throws(MigrationError) {
        let version = context.version
        if let loss = await holder.end() { throw lost(loss, failure) }
        if let failure { throw await note(failure) }
        let row = row
        try await holder.release(
            holder.state.recording(row),
            else: "Migration \(version) ran and will run again with the next manager."
        ) { $0.history.contains(row) }
    }

    /// The row of the history for a closure that has returned.
    var row: AppliedMigration {
        let taken = duration.withLock { $0 } ?? .zero
        return AppliedMigration(
            context.began,
            after: context.previousVersion,
            at: clock.now(),
            in: taken
        )
    }

    func lost(_ loss: LeaseLoss, _ failure: (any Error)? = nil) -> MigrationError {
        let error = MigrationError.leaseLost(loss, context.version, holder.stored.location)
        // A checkpoint that met the loss threw the same.
        guard let failure, (failure as? MigrationError)?.code != .leaseLost else { return error }
        return error.adding("The closure itself ended with: \(MigrationError.sentence(failure))")
    }

    /// The state after a failure, without the lease.
    func ended(by failure: any Error, of state: MigrationState) -> MigrationState {
        var ended = state.failing(failure)
        ended.marks.interruption?.lease = nil
        return ended
    }

    /// Saves that the attempt failed; gives the error to throw.
    func note(_ failure: any Error, _ advice: Message = "") async -> MigrationError {
        let ended = ended(by: failure, of: holder.state)
        var consequence = advice
        do throws(MigrationError) {
            try await holder.release(ended, else: "") { $0.marks == ended.marks }
        } catch {
            consequence = "\(advice) The attempt could not be noted either and counts as a death."
        }
        return failed(failure, consequence)
    }

    func failed(_ failure: any Error, _ consequence: Message = "") -> MigrationError {
        let rollback = failure as? RollbackFailure
        let end: Message =
            rollback.map {
                " The connection could not be rolled back either: \(MigrationError.sentence($0.failure))"
            } ?? ""
        // The app looks for its own error behind this one.
        return .failed(
            context.version,
            attempt: context.attempt,
            rollback?.cause ?? failure,
            holder.stored.location,
            consequence: "\(end)\(consequence)"
        )
    }

    func event(_ kind: MigrationEvent.Kind, _ error: MigrationError? = nil) -> MigrationEvent {
        context.event(kind, duration: duration.withLock { $0 }, error: error)
    }
}

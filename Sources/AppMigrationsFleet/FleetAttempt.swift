internal import AppMigrations

/// One attempt of this host at one migration, under a lease: the closure, then the record or the note that it failed.
final class FleetAttempt: Sendable {
    let context: FleetMigrationContext
    let holder: LeaseHolder
    private let token: RunToken
    private let duration = Guarded<Duration?>(nil)
    /// True if the store's server tells of the processes of this attempt's connection; `nil` before it was asked.
    let tellsOfProcesses = Guarded<Bool?>(nil)

    var clock: FleetClock { deadline.clock }
    var deadline: Deadline { holder.stored.deadline }

    /// An attempt whose lease stands: the intent is in the store.
    init(_ holder: LeaseHolder, _ began: AttemptedMigration, by manager: FleetMigrationManager) {
        let (last, onEvent) = (holder.state.marks.lastRun, manager.options.onEvent)
        self.holder = holder
        context = FleetMigrationContext(previousVersion: last, began: began, holder: holder, onEvent: onEvent)
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
        return await RunToken.$current.withValue(token.opened) { await body() }
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
        return AppliedMigration(context.began, after: context.previousVersion, at: clock.now(), in: taken)
    }

    func lost(_ loss: LeaseLoss, _ failure: (any Error)? = nil) -> MigrationError {
        let error = MigrationError.leaseLost(loss, context.version, holder.stored.location)
        // A checkpoint that met the loss threw the same.
        guard let failure, (failure as? MigrationError)?.code != .leaseLost else { return error }
        return error.adding("The closure itself ended with: \(MigrationError.sentence(failure))")
    }

    /// Saves that the attempt failed; gives the error to throw.
    func note(_ failure: any Error, _ advice: Message = "") async -> MigrationError {
        let ended = holder.state.failing(failure)
        var consequence = advice
        do throws(MigrationError) {
            try await holder.release(ended, else: "") { $0.marks == ended.marks }
        } catch {
            consequence = "\(advice) The attempt could not be noted either and counts as a death."
        }
        return failed(failure, consequence)
    }

    func failed(_ failure: any Error, _ consequence: Message = "") -> MigrationError {
        // The app looks for its own error behind this one.
        return .failed(
            context.version,
            attempt: context.attempt,
            failure,
            holder.stored.location,
            consequence: consequence
        )
    }

    func event(_ kind: MigrationEvent.Kind, _ error: MigrationError? = nil) -> MigrationEvent {
        context.event(kind, duration: duration.withLock { $0 }, error: error)
    }
}

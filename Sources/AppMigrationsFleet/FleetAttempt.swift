internal import AppMigrations
internal import AppMigrationsSQL

/// One attempt of this host at one migration, under a lease: the closure, then the record or the note that it
/// failed.
final class FleetAttempt: Sendable {
    let context: FleetMigrationContext
    /// Ends the statements of the closure that are never answered.
    let watch: FleetWatch
    private let token: RunToken
    private let duration = Guarded<Duration?>(nil)

    var holder: LeaseHolder { context.holder }
    var clock: FleetClock { deadline.clock }
    var deadline: Deadline { holder.stored.deadline }
    var location: StateLocation { holder.stored.location }

    /// An attempt whose lease stands: the intent is in the store.
    init(_ context: FleetMigrationContext) {
        let holder = context.holder
        self.context = context
        watch = FleetWatch(context)
        token = RunToken(holder.stored.location.token(of: holder.lease.owner))
    }

    /// Calls the closure in a task that is marked, and measures it; its error is given, not thrown.
    nonisolated(nonsending) func call(
        closing db: (any AsyncSQLConnection & Sendable)? = nil,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async -> (any Error)? {
        let began = clock.uptime()
        defer {
            token.end()
            duration.withLock { $0 = max(.zero, clock.uptime() - began) }
        }
        return await RunToken.$current.withValue(token.openTokens) {
            await SQLConversation.$watch.withValue(watch) { await holder.supervise(closing: db, body) }
        }
    }

    /// Records that the closure returned, or notes that it threw; of a lost lease nothing is saved.
    func finish(_ failure: (any Error)?) async throws(MigrationError) {
        if let loss = await holder.end() { throw lost(loss, failure) }
        if let failure { throw await note(inWordsOfServer(failure)) }
        let row = row
        try await holder.release(
            holder.state.recording(row),
            else: "Migration \(context.version) ran, and will run again with the next manager."
        ) { $0.history.contains(row) }
    }

    /// The error of a closure, with the reason that the server has given.
    ///
    /// A closure may ask the database itself. The description of a client's error may hide the reason, and
    /// only the SQLSTATE tells whether it may pass.
    private func inWordsOfServer(_ failure: any Error) -> any Error {
        guard let server = holder.stored.postgres?.serverError(from: failure) else { return failure }
        return SQLError.wrapped(failure, as: .migrationFailed, server: server)
    }

    var row: AppliedMigration {
        let taken = duration.withLock { $0 } ?? .zero
        return AppliedMigration(context.began, after: context.previousVersion, at: clock.now(), in: taken)
    }

    func lost(_ loss: LeaseLoss, _ failure: (any Error)? = nil) -> MigrationError {
        let error = location.leaseLost(loss, context.version)
        // A checkpoint that met the loss threw the same.
        guard let failure, (failure as? MigrationError)?.code != .leaseLost else { return error }
        return error.adding("Its closure had failed: \(MigrationError.sentence(failure))")
    }

    /// Saves that the attempt failed; gives the error to throw.
    func note(_ failure: any Error, _ advice: Message = "") async -> MigrationError {
        if let failure = failure as? SQLError, failure.code == .cancelled, Task.isCancelled {
            // A cancelled task is no failure, whichever statement noticed it.
            return await note(CancellationError(), " \(MigrationError.sentence(failure))\(advice)")
        }
        let ended = holder.state.withFailure(failure)
        do throws(MigrationError) {
            try await holder.release(ended, else: "") { $0.versions == ended.versions }
        } catch {
            if error.code == .leaseLost {
                return error.adding("Its closure had failed: \(MigrationError.sentence(failure))")
            }
            return failed(
                failure,
                "\(advice) The failure could not be saved either, so the next start counts this attempt as a crash."
            )
        }
        return failed(failure, "\(blockerSentence(failure))\(advice)")
    }

    /// Names the transaction for which the statement of a failure waited in vain.
    private func blockerSentence(_ failure: any Error) -> Message {
        guard (failure as? SQLError)?.code == .busy, let blocker = watch.blocker else { return "" }
        return " The statement waited for \(blocker)."
    }

    func failed(_ failure: any Error, _ consequence: Message = "") -> MigrationError {
        // The app looks for its own error behind this one.
        .failed(
            context.version,
            in: location,
            attempt: context.attempt,
            because: failure,
            consequence: consequence,
            isTransient: Self.isTransient(failure)
        )
    }

    /// True if the error is that of a database, a store or a connection, and another try may succeed by
    /// itself.
    ///
    /// Only the app knows about its own errors. Those of the store's client are told by the server's report.
    static func isTransient(_ failure: any Error) -> Bool {
        if let failure = failure as? SQLError {
            return failure.isTransient || failure.underlyingError is Overdue
        }
        if let failure = failure as? MigrationError { return failure.isTransient }
        return failure is Overdue
    }

    func event(_ kind: MigrationEvent.Kind, _ error: MigrationError? = nil) -> MigrationEvent {
        var event = context.event(kind)
        event.duration = duration.withLock { $0 }
        event.error = error
        return event
    }
}

internal import AppMigrations
internal import AppMigrationsSQL

/// One attempt of this host at one migration, under a lease.
///
/// It calls the closure, and then saves that the migration has run, or that the closure has failed.
final class FleetAttempt: Sendable {
    let context: FleetMigrationContext
    /// Ends the statements of the closure that are never answered.
    let watch: FleetWatch
    private let token: RunToken
    private let duration = Guarded<Duration?>(nil)
    /// The note of the event `finished`, if no batch was left to run.
    private let finalNote = Guarded<String?>(nil)

    var holder: LeaseHolder { context.holder }
    var clock: FleetClock { deadline.clock }
    var deadline: Deadline { holder.repository.deadline }
    var location: StateLocation { holder.repository.location }

    /// Creates an attempt after its lease was saved in the store.
    init(_ context: FleetMigrationContext) {
        let holder = context.holder
        self.context = context
        watch = FleetWatch(context)
        token = RunToken(holder.repository.location.token(of: holder.lease.owner))
    }

    /// Calls the closure, and measures how long it takes.
    ///
    /// Its task carries a token, so that nested calls are noticed. `db` is closed only if the lease is lost.
    /// The closure's error is returned, not thrown.
    nonisolated(nonsending) func call(
        closing db: (any AsyncSQLConnection & Sendable)? = nil,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async -> (any Error)? {
        let start = clock.uptime()
        defer {
            token.end()
            duration.withLock { $0 = max(.zero, clock.uptime() - start) }
        }
        return await RunToken.$current.withValue(token.openTokens) {
            await SQLConversation.$watch.withValue(watch) { await holder.supervise(closing: db, body) }
        }
    }

    /// Saves how the closure has ended, and ends the lease.
    ///
    /// If the lease was lost, saves nothing.
    ///
    /// - Throws: ``MigrationError`` with `failure` as its cause, if the closure has failed; with the code
    ///   `leaseLost`, if the lease was lost.
    func finish(_ failure: (any Error)?) async throws(MigrationError) {
        let failure = failure.map(withServerMessage)
        if let loss = await holder.stopRenewing() { throw leaseLost(loss, failure: failure) }
        if let failure { throw await saveFailure(failure) }
        let row = makeRow()
        try await holder.release(
            holder.state.changed { $0.record(row) },
            else: "Migration \(context.version) ran, and will run again with the next manager."
        ) { $0.hasRow(row) }
    }

    /// The error of a closure, with the message of the server.
    ///
    /// The closure may use the client library directly. The description of that library's errors may hide the
    /// server's message, and only the SQLSTATE says whether a later try may succeed.
    private func withServerMessage(_ failure: any Error) -> any Error {
        guard let server = holder.repository.postgres?.serverError(from: failure) else { return failure }
        return SQLError.wrapped(failure, as: .migrationFailed, server: server)
    }

    /// The row of the history for this attempt, at the current time.
    func makeRow() -> AppliedMigration {
        let taken = duration.withLock { $0 } ?? .zero
        let attempt = context.initialAttempt
        return AppliedMigration(attempt, after: context.previousVersion, at: clock.now(), in: taken)
    }

    /// Returns the error to throw after the lease was lost.
    ///
    /// `failure` is the error of the closure, if it has thrown one.
    func leaseLost(_ loss: LeaseLoss, failure: (any Error)? = nil) -> MigrationError {
        let error = location.leaseLost(loss, version: context.version)
        // If `saveCheckpoint` has noticed the loss, the closure has thrown the same error.
        guard let failure, (failure as? MigrationError)?.code != .leaseLost else { return error }
        return error.ending(in: .text(sentence(aboutClosure: failure)))
    }

    /// Says how the closure ended on a host that has lost its lease.
    ///
    /// A host that was suspended finds its connection closed, or its transaction ended by the server. If this
    /// library had begun the transaction (`hasConnection`), that is harmless, and the sentence says so.
    private func sentence(aboutClosure failure: any Error) -> Message {
        guard holder.hasConnection, let failure = failure as? SQLError, Self.isOfLostTransaction(failure)
        else {
            return "Its closure had failed: \(MigrationError.sentence(failure))"
        }
        return """
            Its transaction has ended (\(failure.message)). You need do nothing about that: a transaction is committed together \
            with its record, or not at all.
            """
    }

    /// True if the closure's transaction has ended on the server without an answer to this host.
    ///
    /// That happens if the connection is lost, or if the server ends the connection or the transaction. The
    /// server has then either committed the transaction with its record, or rolled it back.
    private static func isOfLostTransaction(_ failure: SQLError) -> Bool {
        guard let state = failure.sqlState else {
            return failure.code == .closed || failure.facts.isOfLostConnection
        }
        // idle_in_transaction_session_timeout
        if state == "25P03" { return true }
        // Class 08 is about connections. A code that begins with 57P means that the server shuts down, or
        // that an operator has ended the connection.
        return failure.isTransient && ["08", "57P"].contains { state.hasPrefix($0) }
    }

    /// Saves that the attempt has failed, and returns the error to throw.
    func saveFailure(_ failure: any Error, advice: Message = "") async -> MigrationError {
        if let failure = failure as? SQLError, failure.code == .cancelled, Task.isCancelled {
            // A cancelled task isn't a failure, even if a statement was the first to notice it.
            return await saveFailure(
                CancellationError(),
                advice: " \(MigrationError.sentence(failure))\(advice)"
            )
        }
        let ended = holder.state.changed { $0.fail(failure) }
        do throws(MigrationError) {
            try await holder.release(ended, else: "") { $0.versions == ended.versions }
        } catch {
            if error.code == .leaseLost { return error.ending(in: .text(sentence(aboutClosure: failure))) }
            return failed(
                because: failure,
                consequence: """
                    \(advice) The failure could not be saved either, so the next start counts this attempt as a crash.
                    """
            )
        }
        return failed(because: failure, consequence: "\(blockerSentence(failure))\(advice)")
    }

    /// Describes the transaction that the failed statement was waiting for.
    private func blockerSentence(_ failure: any Error) -> Message {
        guard (failure as? SQLError)?.code == .busy, let blocker = watch.blocker else { return "" }
        return " The statement waited for \(blocker)."
    }

    /// Returns the error to throw after the closure has failed.
    func failed(because failure: any Error, consequence: Message = "") -> MigrationError {
        // The closure's error becomes the `underlyingError`, so that the app can look for its own error
        // there.
        .failed(
            context.version,
            in: location,
            attempt: context.attempt,
            because: failure,
            consequence: consequence,
            isTransient: Self.isTransient(failure)
        )
    }

    /// True if this is an error of a database, a store or a connection, and another try may succeed by
    /// itself.
    ///
    /// The errors of the app don't count as transient, because only the app knows about them. An error of the
    /// store's client library was converted to an `SQLError` with the server's SQLSTATE before this is
    /// called.
    static func isTransient(_ failure: any Error) -> Bool {
        if let failure = failure as? SQLError {
            return failure.isTransient || failure.underlyingError is Overdue
        }
        if let failure = failure as? MigrationError { return failure.isTransient }
        return failure is Overdue
    }

    /// False if no batch was left to run.
    var callsClosure: Bool { finalNote.withLock { $0 } == nil }

    /// Sets the note of the event `finished`, for batches of which none was left to run.
    func setFinalNote(_ note: String) { finalNote.withLock { $0 = note } }

    func event(_ kind: MigrationEvent.Kind, error: MigrationError? = nil) -> MigrationEvent {
        var event = context.event(kind)
        if kind == .finished { event.note = finalNote.withLock { $0 } ?? watch.noteOnFiles }
        event.duration = duration.withLock { $0 }
        event.error = error
        return event
    }
}

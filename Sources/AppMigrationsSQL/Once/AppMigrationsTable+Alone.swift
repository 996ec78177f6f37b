extension AppMigrationsTable {
    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    func alone(
        lockTimeout: Duration,
        _ body: (_ checksReferences: Bool) throws(SQLError) -> Void
    ) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try session.withoutForeignKeys { checks throws(SQLError) in
                try session.durably { () throws(SQLError) in
                    try session.transaction(wait: lockTimeout) { () throws(SQLError) in try body(checks) }
                }
            }
        }
    }

    /// Runs `body`, which calls a closure of the app through what it is given; what the closure throws comes out as it was.
    func passingErrors(_ body: (inout ClosureCall) throws(SQLError) -> Void) throws {
        var call = ClosureCall(session: session)
        do throws(SQLError) {
            try body(&call)
        } catch {
            // A statement of the closure, too, ends by the cancellation of its task.
            if error.code == .cancelled, Task<Never, Never>.isCancelled { throw CancellationError() }
            if let failure = call.failure, failure.message == error.message { throw failure.cause }
            throw error
        }
    }
}

/// The call of a closure of the app, which must not end the transaction.
struct ClosureCall {
    let session: any SQLSession
    private(set) var failure: (cause: any Error, message: String)?

    init(session: any SQLSession) { self.session = session }

    mutating func run(_ closure: () throws -> Void) throws(SQLError) {
        try session.inOneTransaction {
            do {
                try closure()
            } catch {
                failure = (error, SQLError.wrapped(error, as: .migrationFailed).message)
                throw error
            }
        }
    }
}

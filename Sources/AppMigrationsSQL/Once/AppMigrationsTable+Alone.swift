extension AppMigrationsTable {
    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    func alone(
        lockTimeout: Duration,
        _ body: @escaping (_ checksReferences: Bool) -> SQLWork<Void>
    ) -> SQLWork<Void> {
        session.waiting(lockTimeout) {
            session.withoutForeignKeys { checks in
                session.lasting(durably: true) {
                    session.transaction(SQLLockWait(lockTimeout), durably: true) { body(checks) }
                }
            }
        }
    }
}

/// The closure of the app that work on the table calls, and what it threw.
struct ClosureCall {
    private var failure: (cause: any Error, message: String)?

    /// Runs the closure, and keeps what it throws.
    mutating func noting(_ closure: () throws -> Void) throws {
        do { try closure() } catch {
            note(error)
            throw error
        }
    }

    mutating func note(_ error: any Error) {
        failure = (error, SQLError.wrapped(error, as: .migrationFailed).message)
    }

    /// The error to throw where the work failed: what the closure threw comes out as it was.
    func cause(of error: SQLError) -> any Error {
        // A statement of the closure, too, ends by the cancellation of its task.
        if error.code == .cancelled, Task<Never, Never>.isCancelled { return CancellationError() }
        if let failure, failure.message == error.message { return failure.cause }
        return error
    }
}

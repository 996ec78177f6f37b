package import AppMigrationsSQL

extension SQLiteSession {
    package func begin(_ lock: SQLLockWait, durably: Bool) -> SQLWork {
        // A plain BEGIN reads first and locks later: of two that do, one fails at once and is never told to wait
        // ("Transaction", "Read transactions versus write transactions").
        let wholeWait = { self.lock(with: Self.beginning, limit: lock.limit) }
        return trying(lock.beforeWaiting, before: wholeWait).otherwise { error in
            isInTransaction.whether { .failed($0 ? SQLError.inTransaction : error) }
        }
    }

    /// A BEGIN that is cancelled may have begun, and nothing tells a transaction of the caller from that one.
    private static var beginning: SQLWork { .asking(.undo("BEGIN IMMEDIATE", [])) }

    /// Tries to have the lock at once where somebody is to be told of a wait.
    private func trying(
        _ beforeWaiting: (() -> SQLWork)?,
        before wholeWait: @escaping () -> SQLWork
    ) -> SQLWork {
        guard let beforeWaiting else { return wholeWait() }
        var failure: SQLError?
        return waiting(.zero) {
            Self.beginning.otherwise { error in
                failure = error
                return .nothing
            }
        }.then {
            guard let failure else { return .nothing }
            return (failure.code == .busy ? beforeWaiting() : .nothing).then(wholeWait)
        }
    }

    /// SQLite's lock comes with the first statement that writes.
    package func join(_ lock: SQLLockWait) -> SQLWork {
        isInTransaction.whether { isThere in
            isThere
                ? .nothing
                : .failed(SQLError(.notInTransaction, "The connection is in no transaction"))
        }
    }

    /// Whether the connection is in a transaction, which its SQL can only tell by trying.
    ///
    /// A BEGIN takes no lock and fails inside a transaction only, unless the connection takes no statement at all, as that
    /// of a cancelled task may.
    package var isInTransaction: SQLWork {
        if let own {
            return .trying { () throws(SQLError) in .answer(try own.isInTransaction) }
        }
        // In a task that is cancelled in between, the connection would stay in the transaction of the BEGIN.
        return SQLWork.asking(.undo("BEGIN", [])).either(
            { _ in SQLWork.asking(.undo("ROLLBACK", [])).then { .answer(false) } },
            { _ in SQLWork.statement("SELECT 1").then { .answer(true) } }
        )
    }

    package func inOneTransaction(_ body: @escaping () -> SQLWork) -> SQLWork {
        guard let own, !own.isBorrowed else { return behindSavepoint(body) }
        let ends = own.noteEnds()
        return body().undoing("removing the hooks") {
            own.removeHooks()
            return .nothing
        }.noting { () throws(SQLError) in
            if ends.wereSeen || !own.hasTransaction { throw SQLError.endedTransaction }
        }
    }

    package func rollBack() -> SQLWork {
        if let own {
            // One that SQLite ended is acknowledged by a ROLLBACK, too.
            return own.hasTransaction || own.hasEndedTransaction ? .statement("ROLLBACK") : .nothing
        }
        return SQLWork.statement("ROLLBACK").otherwise { error in
            // SQLite may have ended the transaction by itself.
            isInTransaction.whether { $0 ? .failed(error) : .nothing }
        }
    }

    /// Tells the errors of `body` which database they are about.
    package func waiting(_ time: Duration, _ body: @escaping () -> SQLWork) -> SQLWork {
        if let own, !own.isBorrowed {
            let before = own.exchangeBusyTimeout(time)
            return body().undoing("setting the former wait for locks again") {
                _ = own.exchangeBusyTimeout(before)
                return .nothing
            }.failing { own.naming($0) }
        }
        let milliseconds = time == .zero ? 0 : Int64(time.wholeMilliseconds)
        return number(of: "busy_timeout") { before in
            if before == milliseconds { return body() }
            return set("busy_timeout", to: milliseconds).then(body)
                .undoing("setting the former wait for locks again") { set("busy_timeout", to: before) }
        }.failing { own?.naming($0) ?? $0 }
    }
}

extension SQLError {
    static var inTransaction: SQLError {
        SQLError(.alreadyInTransaction, "The connection is in a transaction already")
    }
}

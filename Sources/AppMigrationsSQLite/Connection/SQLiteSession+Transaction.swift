package import AppMigrationsSQL

extension SQLiteSession {
    package func begin(wait: Duration) throws(SQLError) {
        do throws(SQLError) {
            // A plain BEGIN reads first and locks later: of two that do, one fails at once and is never told to wait
            // ("Transaction", "Read transactions versus write transactions").
            try lock(with: "BEGIN IMMEDIATE", wait: wait)
        } catch {
            guard try isInTransaction else { throw error }
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }

    /// SQLite's lock comes with the first statement that writes.
    package func join(wait: Duration) throws(SQLError) {
        if try !isInTransaction { throw SQLError(.notInTransaction, "The connection is in no transaction") }
    }

    /// Whether the connection is in a transaction, which its SQL can only tell by trying.
    ///
    /// A BEGIN takes no lock and fails inside a transaction only, unless the connection takes no statement at all, as that
    /// of a cancelled task may.
    package var isInTransaction: Bool {
        get throws(SQLError) {
            if let own { return try own.isInTransaction }
            do {
                _ = try db.query("BEGIN")
            } catch {
                try db.rows("SELECT 1")
                return true
            }
            try db.rows("ROLLBACK")
            return false
        }
    }

    package func inOneTransaction(_ body: () throws -> Void) throws(SQLError) {
        guard let own, !own.isBorrowed else { return try behindSavepoint(body) }
        try own.keepingTransaction(body)
    }

    package func rollBack() throws(SQLError) {
        if let own {
            // One that SQLite ended is acknowledged by a ROLLBACK, too.
            if own.hasTransaction || own.hasEndedTransaction { try own.query("ROLLBACK") }
            return
        }
        do {
            try db.rows("ROLLBACK")
        } catch {
            // SQLite may have ended the transaction by itself.
            if try isInTransaction { throw error }
        }
    }

    /// Tells the errors of `body` which database they are about.
    package func waiting(_ time: Duration, _ body: () throws(SQLError) -> Void) throws(SQLError) {
        do throws(SQLError) {
            if let own, !own.isBorrowed { return try own.waiting(time, body) }
            let milliseconds = Int64(time.wholeMilliseconds)
            let before = try number(of: "busy_timeout")
            if before == milliseconds { return try body() }
            try set("busy_timeout", to: milliseconds)
            try SQLError.running(body, undoing: "setting the former wait for locks again") {
                () throws(SQLError) in try set("busy_timeout", to: before)
            }
        } catch {
            throw own?.naming(error) ?? error
        }
    }

    func number(of pragma: String) throws(SQLError) -> Int64 {
        guard let number = try db.number("PRAGMA \(pragma)") else {
            throw SQLError(.statementFailed, "PRAGMA \(pragma) gave no number")
        }
        return number
    }

    func set(_ pragma: String, to number: Int64) throws(SQLError) {
        try db.rows("PRAGMA \(pragma) = \(number)")
    }
}

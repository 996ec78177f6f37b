/// A statement outside of a transaction, recorded after it: at least once.
///
/// The lock of the migrator ends with a transaction, and a lock of the session would stay behind on a pooler's connection.
/// So each host that is about to run the statement shows it to the others, in what the server says of its connections: by
/// the COMMIT of the transaction in which it looked, by the statement, and by the transaction that records it.
extension SQLMigrationRun {
    /// The statement of a script that is to run outside of a transaction; `nil` for any other script.
    func statement(ofAlone script: String, _ step: SQLStep) throws(SQLError) -> String? {
        let isAsked = try Self.asksForNoTransaction(script)
        guard step.isAlone || isAsked else { return nil }
        let statement = try session.statement(ofAlone: script)
        if steps.isOneTransaction || insideTransaction {
            throw SQLError(
                .refusedStatement,
                "It runs outside of a transaction, and this call has one for all. Run it by a call without"
                    + " insideTransaction: and without Transactions.all"
            )
        }
        return statement
    }

    /// Whether the first line of a script says that it has no transaction.
    private static func asksForNoTransaction(_ script: String) throws(SQLError) -> Bool {
        let bytes = SQLScript(script).bytes.dropLast()
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        var words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }.map {
            $0.lowercased()
        }
        guard words.count > 1, words.removeFirst() == "--", words.removeFirst() == "app-migrations:" else {
            return false
        }
        if words == ["no", "transaction"] { return true }
        var error = SQLError(
            .invalidScript,
            "The first line asks for \"\(words.joined(separator: " "))\", and there is only \"no transaction\""
        )
        (error.line, error.column) = (1, 1)
        throw error
    }

    func runAlone(_ next: Pending, _ statement: String) -> SQLWork {
        let ledgerName = String(steps.ledger.unicodeScalars.filter { $0 != "*" && $0 != "/" })
        let mark = "/* app_migrations \(ledgerName) \(next.step.version) */ "
        return claim(next, mark, since: .now) {
            SQLWork.statement(mark + statement).failing { error in
                var error = error
                if error.code == .statementFailed { error.code = .migrationFailed }
                return error
            }.then { self.recordAlone(next).marked(mark) }
        }.failing { self.failed($0, at: next) }
    }

    /// Waits until no other host runs the statement, and goes on where it is still to be run.
    private func claim(
        _ next: Pending,
        _ mark: String,
        since began: ContinuousClock.Instant,
        _ work: @escaping () -> SQLWork
    ) -> SQLWork {
        var (isApplied, isRunning) = (true, false)
        let looking = checkingCancellation {
            session.transaction(lock, commit: { isApplied || isRunning ? "COMMIT" : mark + "COMMIT" }) {
                self.unlessApplied(next) {
                    isApplied = false
                    return self.session.isRunning(mark).noting { isRunning = !$0.isEmpty }
                }
            }
        }
        return looking.then { () throws(SQLError) in
            if !isRunning { return isApplied ? .nothing : work() }
            if began.duration(to: .now) >= self.steps.lockTimeout {
                throw SQLError(.busy, "Another host still runs the statement")
            }
            return (self.lock.beforeWaiting?() ?? .nothing)
                .then { .asking(.pause(.milliseconds(100))) }
                .then { self.claim(next, mark, since: began, work) }
        }
    }

    private func recordAlone(_ next: Pending) -> SQLWork {
        let before = counts
        return session.transaction(lock, durably: true) {
            self.answer = .continue
            return self.unlessApplied(next) { self.record(next) }
                .noting { () throws(SQLError) in try self.checkAnswer(.rollBack) }
        }.failing { error in
            self.restore(before)
            return error
        }
    }
}

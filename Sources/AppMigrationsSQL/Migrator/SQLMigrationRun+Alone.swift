/// A statement outside of a transaction, recorded after it: at least once.
///
/// The lock of the migrator ends with a transaction, and a lock of the session would stay behind on a pooler's connection.
/// So each host that is about to run the statement shows it to the others, in what the server says of its connections: by
/// the COMMIT of the transaction in which it looked, by the statement, and by the transaction that records it.
extension SQLMigrationRun {
    /// The statements of a script that is to run outside of a transaction; `nil` for any other script.
    func statements(ofAlone script: String, _ step: SQLStep) throws(SQLError) -> [String]? {
        let isAsked = try Self.asksForNoTransaction(script)
        guard step.isAlone || isAsked else { return nil }
        let statements = try session.statements(ofAlone: script)
        if steps.isOneTransaction || insideTransaction {
            throw SQLError(
                .refusedStatement,
                "It runs outside of a transaction, and this call has one for all. Run it by a call without"
                    + " insideTransaction: and without Transactions.all"
            )
        }
        return statements
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

    func runAlone(_ next: Pending, _ statements: [String]) -> SQLWork {
        let ledgerName = String(steps.ledger.unicodeScalars.filter { $0 != "*" && $0 != "/" })
        let mark = "/* app_migrations \(ledgerName) \(next.step.version) */ "
        return claim(next, mark, since: .now) {
            SQLWork.each(0..<statements.count) { index in
                SQLWork.statement(mark + statements[index]).then {
                    self.session.refuseInvalidIndex(of: statements[index]).marked(mark)
                }
            }.failing { error in
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
        var (isApplied, running) = (true, SQLRows())
        let looking = checkingCancellation {
            session.transaction(
                lockOfLongWait,
                commit: { isApplied || !running.isEmpty ? "COMMIT" : mark + "COMMIT" }
            ) {
                self.unlessApplied(next) {
                    isApplied = false
                    return self.session.isRunning(mark).noting { running = $0 }
                }
            }
        }
        return looking.then { () throws(SQLError) in
            guard let holder = running.first else { return isApplied ? .nothing : work() }
            if began.duration(to: .now) >= self.steps.lockTimeout {
                throw SQLError(.busy, "Another host still runs the statement\(Self.place(of: holder))")
            }
            return self.tellOfLongWait().then { .asking(.pause(.milliseconds(100))) }
                .then { self.claim(next, mark, since: began, work) }
        }
    }

    private static func place(of holder: [SQLValue]) -> String {
        guard holder.count == 2, case .text(let process) = holder[0], case .text(let address) = holder[1]
        else {
            return ""
        }
        return ", in the server's process \(process)" + (address.isEmpty ? "" : " for \(address)")
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

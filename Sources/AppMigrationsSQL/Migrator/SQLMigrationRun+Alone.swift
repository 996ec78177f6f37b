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

    /// True if the first line of a script says that it has no transaction.
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
        throw SQLError(
            .invalidScript,
            "The first line asks for \"\(words.joined(separator: " "))\", and there is only \"no transaction\""
        ).with { ($0.line, $0.column) = (1, 1) }
    }

    func runAlone(_ next: Pending, _ statements: [String]) throws(SQLError) {
        let ledgerName = String(steps.ledger.unicodeScalars.filter { $0 != "*" && $0 != "/" })
        let mark = "/* app_migrations \(ledgerName) \(next.step.version) */ "
        do throws(SQLError) {
            guard try claim(next, mark) else { return }
            try session.db.marking(mark) { () throws(SQLError) in
                try run(statements)
                try recordAlone(next)
            }
        } catch { throw failed(error, at: next) }
    }

    private func run(_ statements: [String]) throws(SQLError) {
        do throws(SQLError) {
            for statement in statements {
                try session.db.query(statement)
                try session.refuseInvalidIndex(of: statement)
            }
        } catch {
            throw error.code == .statementFailed ? error.with { $0.code = .migrationFailed } : error
        }
    }

    /// Waits until no other host runs the statement; tells whether it is still to be run.
    private func claim(_ next: Pending, _ mark: String) throws(SQLError) -> Bool {
        let began = ContinuousClock.now
        while true {
            var (isThere, running) = (true, SQLRows())
            try checkCancellation()
            try session.transaction(
                lockOfLongWait,
                commit: { isThere || !running.isEmpty ? "COMMIT" : mark + "COMMIT" }
            ) { () throws(SQLError) in
                isThere = try isApplied(next)
                if !isThere { running = try session.isRunning(mark) }
            }
            guard let holder = running.first else { return !isThere }
            if began.duration(to: .now) >= steps.lockTimeout {
                throw SQLError(.busy, "Another host still runs the statement\(Self.place(of: holder))")
            }
            try tellOfLongWait()
            try session.db.pause(.milliseconds(100))
        }
    }

    private static func place(of holder: [SQLValue]) -> String {
        guard holder.count == 2, case .text(let process) = holder[0], case .text(let address) = holder[1]
        else { return "" }
        return ", in the server's process \(process)" + (address.isEmpty ? "" : " for \(address)")
    }

    private func recordAlone(_ next: Pending) throws(SQLError) {
        let before = counts
        do throws(SQLError) {
            try session.transaction(lock, durably: true) { () throws(SQLError) in
                answer = .continue
                if try !isApplied(next) { try record(next) }
                try checkAnswer(.rollBack)
            }
        } catch {
            restore(before)
            throw error
        }
    }
}

/// When to tell of a wait that is one of many looks: at once, and then every ten seconds.
package struct SQLLongWait {
    private var told: ContinuousClock.Instant?

    package init() {}

    package mutating func isToBeTold(at now: ContinuousClock.Instant) -> Bool {
        if let told, told.duration(to: now) < .seconds(10) { return false }
        told = now
        return true
    }
}

/// Runs a statement outside of a transaction, and records it afterwards, so it runs at least once.
///
/// No lock of PostgreSQL can protect such a statement. The migrator's lock ends with its transaction, before
/// the statement runs. A lock of the session would remain on a pooler's connection. So hosts use a comment in
/// their SQL instead, which pg_stat_activity shows to the other hosts. A host does this:
///
/// - In a transaction, it checks that no other host has the comment. It commits with a COMMIT that begins
///   with the comment.
/// - It runs the statement, which begins with the comment.
/// - It records the migration in a transaction whose statements begin with the comment.
extension PostgresSession {
    func checkCanRunOutsideTransaction(_ script: String) throws(SQLError) {
        let statements = try PostgresStatements(script).statements
        // DROP INDEX … IF EXISTS can run any number of times, so it needs no rollback.
        if statements.count == 1
            || statements.count == 2
                && statements[0].begins(with: "DROP", "INDEX", "CONCURRENTLY", "IF", "EXISTS")
        {
            return
        }
        throw SQLError(
            .invalidScript,
            "A script outside of a transaction may have only one statement, because if a second one failed, the first could not"
                + " be rolled back. This one has \(statements.count) statements. Only DROP INDEX CONCURRENTLY IF EXISTS may come before it"
        )
    }

    func runOutsideTransaction(
        _ script: String,
        as name: String,
        _ lock: SQLLockWait,
        isApplied: () throws(SQLError) -> Bool,
        record: SQLOperation
    ) throws(SQLError) {
        let comment = "/* app_migrations \(String(name.unicodeScalars.filter { $0 != "*" && $0 != "/" })) */ "
        guard try claim(with: comment, within: lock, isApplied: isApplied) else { return }
        db.commentPrefix = comment
        defer { db.commentPrefix = "" }
        for statement in try PostgresStatements(script).statements {
            do throws(SQLError) {
                if let process { db.statementContext = .longStatement(comment: comment, on: process) }
                defer { db.statementContext = .outsideTransaction }
                try db.query(statement.text)
                db.statementContext = .outsideTransaction
                try refuseInvalidIndex(of: statement)
            } catch {
                throw explaining(error, of: statement)
            }
        }
        try transaction(lock, durably: true, record)
    }

    /// Waits until no other host runs the statement, and then claims it for this host by a COMMIT that begins
    /// with `comment`.
    ///
    /// - Returns: False if another host has applied the migration.
    private func claim(
        with comment: String,
        within lock: SQLLockWait,
        isApplied: () throws(SQLError) -> Bool
    ) throws(SQLError) -> Bool {
        let began = ContinuousClock.now
        var lastReport: ContinuousClock.Instant?
        func reportWait() throws(SQLError) {
            guard Self.isReportDue(lastReport: lastReport, now: .now) else { return }
            lastReport = .now
            try lock.beforeWaiting?()
        }
        while true {
            if db.isCancelled { throw SQLError.taskCancelled }
            let holder: SQLValue?
            try begin(SQLLockWait(lock.limit, ledger: lock.ledger, beforeWaiting: reportWait), durably: false)
            do throws(SQLError) {
                if try isApplied() {
                    try commit(lock)
                    return false
                }
                holder = try self.holder(of: comment)
                // This COMMIT is the claim: pg_stat_activity shows it until the next statement.
                try db.query((holder == nil ? comment : "") + "COMMIT")
                db.statementContext = .outsideTransaction
            } catch { throw rollingBack(after: error) }
            guard let holder else { return true }
            if began.duration(to: .now) >= lock.limit {
                let process = try holder.value(as: String.self)
                throw SQLError(.busy, "Another host still runs the statement, in the server's \(process)")
            }
            try reportWait()
            db.pause(.milliseconds(100))
        }
    }

    /// True if the caller should be told about a wait now: the first time, and then every ten seconds.
    static func isReportDue(lastReport: ContinuousClock.Instant?, now: ContinuousClock.Instant) -> Bool {
        lastReport.map { $0.duration(to: now) >= .seconds(10) } ?? true
    }

    /// Returns the error of a statement with the way out, if one is known.
    private func explaining(_ error: SQLError, of statement: PostgresStatements.Statement) -> SQLError {
        // duplicate_table
        if error.sqlState == "42P07" {
            do throws(SQLError) { try refuseInvalidIndex(of: statement) } catch let refusal {
                // If the query for the index fails, the first error is the one to report.
                if refusal.code == .migrationFailed { return refusal }
            }
        }
        return error.addingAdviceOnTimeouts(isCancelled: db.isCancelled)
    }

    /// Throws if the index that a statement creates exists and is invalid.
    ///
    /// If CREATE INDEX CONCURRENTLY fails, the server leaves the index in the database as invalid. Each write
    /// then updates it, and no query uses it. The statement that should create it fails, or IF NOT EXISTS
    /// skips it.
    private func refuseInvalidIndex(of statement: PostgresStatements.Statement) throws(SQLError) {
        guard let index = statement.index else { return }
        let rows = try db.query(
            """
            SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE indrelid = to_regclass($1) AND relname = ((parse_ident($2))[1])::name AND NOT indisvalid
            """,
            [.text(index.table), .text(index.name)]
        )
        guard case .text(let name) = rows.first?.first else { return }
        throw SQLError(
            .migrationFailed,
            "The index \(name) is invalid: a failed attempt left it, so the statement can't create it. The migration was not"
                + " recorded. Run DROP INDEX CONCURRENTLY \(name), or put that statement, with IF EXISTS, before this one"
        )
    }

    /// The server process of another host whose statement begins with this comment; `nil` if there is none.
    ///
    /// The server lists only existing connections. So if a host crashes, its claim ends with its connection.
    ///
    /// While a connection is idle, the server lists its last statement. A host with a claim is idle only
    /// briefly, between two of its statements. So an idle connection with the comment counts for ten seconds,
    /// by the server's clock. After that, its host is assumed to be gone.
    private func holder(of comment: String) throws(SQLError) -> SQLValue? {
        try db.query(
            """
            SELECT concat('process ', pid, ' for ' || host(client_addr)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND left(query, length($1::text)) = $1::text
            AND (state <> 'idle' OR clock_timestamp() - state_change < interval '10 seconds')
            """,
            [.text(comment)]
        ).first?.first
    }
}

extension SQLError {
    /// The error of a statement outside of a transaction, with advice if a time-out has ended it.
    ///
    /// In a transaction, `SET LOCAL` lifts the time-outs. Outside of one, only a setting of the session would
    /// do that, and it would remain on the connection of a pooler.
    fileprivate func addingAdviceOnTimeouts(isCancelled: Bool) -> SQLError {
        with {
            if code == .statementFailed { $0.code = .migrationFailed }
            // query_canceled, transaction_timeout
            guard ["57014", "25P04"].contains(sqlState), !isCancelled else { return }
            $0.message +=
                ". A statement outside of a transaction has the time-outs of the server, the database and the role. Lift them for the"
                + " role that migrates: ALTER ROLE … SET statement_timeout = 0"
        }
    }
}

package import AppMigrationsSQL

extension SQLiteSession {
    package func begin(_ lock: SQLLockWait, durably: Bool) throws(SQLError) {
        do throws(SQLError) {
            try run(beginWriting, waitingAs: lock, mayTryAgain: { true })
        } catch { throw try isInTransaction() ? SQLError.inTransaction : error }
    }

    // A plain BEGIN takes a read lock first and the write lock later. If two connections do that, one of them
    // fails at once, without calling the busy handler (https://sqlite.org/lang_transaction.html, "Read
    // transactions versus write transactions").
    //
    // The statement runs even if the task is cancelled. A cancelled BEGIN may have begun a transaction, and
    // nothing distinguishes that from a transaction of the caller.
    private func beginWriting() throws(SQLError) { try db.queryIgnoringCancellation("BEGIN IMMEDIATE") }

    /// Commits.
    ///
    /// With a rollback journal, a commit waits until every reader has ended its transaction
    /// (https://sqlite.org/lockingv3.html).
    package func commit(_ lock: SQLLockWait) throws(SQLError) {
        // If the disk is full, for example, SQLite rolls the transaction back by itself. A second COMMIT
        // would then fail, because no transaction is open.
        try run(
            { () throws(SQLError) in try db.query("COMMIT") },
            waitingAs: lock,
            mayTryAgain: isInTransaction
        )
    }

    /// Runs a statement that waits for a lock.
    ///
    /// If `lock.beforeWaiting` is set, the statement is first tried without a wait. A connection of another
    /// library may report a busy database with an error that isn't recognized as one. So the statement is
    /// tried again after any error, if `mayTryAgain` returns true.
    private func run(
        _ statement: SQLOperation,
        waitingAs lock: SQLLockWait,
        mayTryAgain: () throws(SQLError) -> Bool
    ) throws(SQLError) {
        if let beforeWaiting = lock.beforeWaiting {
            var failure: SQLError?
            try withLockTimeout(.zero) { () throws(SQLError) in
                do throws(SQLError) { try statement() } catch { failure = error }
            }
            guard let failure else { return }
            if failure.code == .busy {
                try beforeWaiting()
            } else if try !mayTryAgain() {
                throw failure
            }
        }
        try self.lock(limit: lock.limit, with: statement)
    }

    /// Checks that the connection is already in a transaction.
    ///
    /// This takes no lock, because SQLite takes the write lock when the first statement writes.
    package func join(_ lock: SQLLockWait) throws(SQLError) {
        if try !isInTransaction() {
            throw SQLError(.notInTransaction, "The connection is not in a transaction")
        }
    }

    /// True if the connection is in a transaction.
    ///
    /// In SQL, the only way to find out is to try a BEGIN.
    ///
    /// A BEGIN takes no lock. So it fails only inside a transaction, or if the connection accepts no
    /// statements, for example in a cancelled task. In the second case, `SELECT 1` also fails, and its error
    /// is thrown.
    package func isInTransaction() throws(SQLError) -> Bool {
        if let ownConnection { return try ownConnection.isInTransaction }
        // Both statements run even if the task is cancelled. Otherwise the connection could stay in the
        // BEGIN's transaction.
        do throws(SQLError) { try db.queryIgnoringCancellation("BEGIN") } catch {
            try db.query("SELECT 1")
            return true
        }
        try db.queryIgnoringCancellation("ROLLBACK")
        return false
    }

    package func rollBack() throws(SQLError) {
        if let ownConnection { return try ownConnection.rollBack() }
        do throws(SQLError) { try db.query("ROLLBACK") } catch {
            // SQLite may already have ended the transaction.
            if try isInTransaction() { throw error }
        }
    }

    /// Runs `body`, whose statements wait for a lock for at most `time`.
    ///
    /// Afterwards, the connection waits for locks as long as it did before the call.
    ///
    /// The database's path is added to the errors of `body`.
    package func withLockTimeout(_ time: Duration, _ body: SQLOperation) throws(SQLError) {
        do throws(SQLError) {
            if let ownConnection, !ownConnection.isBorrowed {
                return try ownConnection.withBusyTimeout(time, body)
            }
            let milliseconds = time == .zero ? 0 : Int64(time.wholeMilliseconds)
            let before = try number(of: "busy_timeout")
            if before == milliseconds { return try body() }
            try db.withCleanup("setting the former wait for locks again") { () throws(SQLError) in
                try set("busy_timeout", to: before)
            } _: { () throws(SQLError) in
                // The pragma may have taken effect even if it throws. So it runs in this closure, after which
                // the former wait is restored in every case.
                try set("busy_timeout", to: milliseconds)
                try body()
            }
        } catch { throw ownConnection?.addingPath(to: error) ?? error }
    }

    package func check(_ script: String, isOutsideTransaction: Bool) throws(SQLError) {
        if isOutsideTransaction { throw SQLError.outsideTransaction }
        let script = SQLScript(script)
        try script.refuseBothDirections()
        try script.check()
        if db.isAsynchronous { _ = try script.separateStatements() }
    }

    package func runOutsideTransaction(
        _ script: String,
        as name: String,
        _ lock: SQLLockWait,
        isApplied: () throws(SQLError) -> Bool,
        record: SQLOperation
    ) throws(SQLError) { throw SQLError.outsideTransaction }

    package func run(script: String, sharesTransaction: Bool) throws(SQLError) {
        guard let ownConnection, !ownConnection.isBorrowed else {
            return try guardingTransaction { () throws(SQLError) in
                try db.isAsynchronous ? runEach(of: script) : db.execute(script: script)
            }
        }
        // No savepoint is used here, because SQLite would copy every page that the script changes. A
        // savepoint would also show whether the script ended the transaction, but here such statements are
        // refused.
        do throws(SQLError) { try ownConnection.runInTransaction(SQLScript(script)) } catch {
            throw ownConnection.addingPath(to: error)
        }
        if !ownConnection.hasTransaction { throw SQLError.endedTransaction() }
    }

    private func runEach(of script: String) throws(SQLError) {
        for next in try SQLScript(script).separateStatements() {
            do throws(SQLError) {
                if let table = next.droppedTable { try checkDropping(table) }
                try db.query(next.text)
            } catch { throw error.located(inStatement: next.text, at: next.position) }
        }
    }

    /// Refuses to drop a table while foreign keys are on and rows of other tables would change.
    ///
    /// "If foreign key constraints are enabled when it is prepared, then the DROP TABLE command performs an
    /// implicit DELETE to remove all rows from the table prior to dropping it" (SQLite Foreign Key Support,
    /// section 5).
    func checkDropping(_ table: String) throws(SQLError) {
        guard try hasForeignKeys() else { return }
        let children = try db.query(
            """
            SELECT DISTINCT child.name FROM sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
            WHERE child.type = 'table' AND child.name <> ?1 COLLATE NOCASE AND key."table" = ?1 COLLATE NOCASE
            AND key.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
            """,
            [.text(table)]
        )
        guard case .text(let child) = children.first?.first else { return }
        throw SQLError(
            .refusedStatement,
            "Foreign keys are on, so DROP TABLE \(table) would delete or change the rows of \(child) that refer to"
                + " \(table). Turn foreign keys off before the transaction begins. A migrator does this itself if you"
                + " don't call it in a transaction"
        )
    }
}

extension SQLError {
    fileprivate static var outsideTransaction: SQLError {
        SQLError(
            .refusedStatement,
            "On SQLite, every migration runs in a transaction. Run VACUUM and other statements that can't be in a"
                + " transaction yourself, without the migrator"
        )
    }
}

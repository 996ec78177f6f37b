package import AppMigrations

/// The table that records which versions each manager has run in a database.
///
/// For a version that runs in batches, it also records the cursor that the batches have reached.
///
/// It is named `app_migrations`, unless the caller chose another name.
///
/// A row is written in the transaction of its closure. So the database itself knows which closures have run,
/// even if the process crashes before it saves the state file. If the `cursor` of a row is `NULL`, its
/// version is done.
package final class AppMigrationsTable: LedgerTable {
    static let ownColumns = [LedgerColumn.text("manager"), .text("version"), .text("cursor")]

    let manager: String
    /// How long each transaction waits for another writer.
    let lockTimeout: Duration

    init(_ session: any SQLSession, named name: String, of manager: String, lockTimeout: Duration) {
        self.manager = manager
        self.lockTimeout = lockTimeout
        super.init(
            session,
            named: name,
            columns: Self.ownColumns,
            olderForms: [Self.ownColumns.dropLast()]
        )
    }

    private var rowCondition: String {
        "manager = \(session.placeholder(1)) AND version = \(session.placeholder(2))"
    }

    /// The state of a version, by its row in the table.
    enum State: Equatable {
        /// The table has no row.
        case new
        /// The last batch ended at a cursor.
        case begun(String)
        case done

        var cursor: String? { if case .begun(let cursor) = self { cursor } else { nil } }
    }

    /// Creates the table if it is missing, and adds the column `cursor` to a table of an older version.
    func createOrUpgrade() throws(SQLError) {
        try read()
        if hasColumn("cursor") { return }
        try session.db.query(
            exists
                ? "ALTER TABLE \(table) ADD COLUMN cursor TEXT"
                : """
                CREATE TABLE \(table) (
                    manager TEXT NOT NULL,
                    version TEXT NOT NULL,
                    cursor TEXT,
                    PRIMARY KEY (manager, version)
                )
                """
        )
        try read()
    }

    func state(of version: AppVersion) throws(SQLError) -> State {
        let expected = row(of: version)
        let sql = "SELECT cursor, manager, version FROM \(table)\(session.withoutIndex) WHERE \(rowCondition)"
        let rows = try session.db.query(sql, expected)
        // The rows are compared again in Swift, because the database may find other rows as well. In a column
        // of numbers, 1.10 equals 1.1. With some collations, the name of one manager equals another's.
        guard rows.count < 2, rows.allSatisfy({ Array($0.dropFirst()) == expected }) else {
            throw unreadable(
                "The table \(name) has rows that look like version \(version), and are not: \(rows)"
            )
        }
        switch rows.first?.first {
        case nil: return .new
        case .null: return .done
        case .text(let cursor): return .begun(cursor)
        case let value?:
            throw unreadable(
                "The table \(name) has a cursor of version \(version) that can't be read: \(value)"
            )
        }
    }

    /// Adds the row of a version that is done, or whose batches have reached a cursor.
    func add(_ version: AppVersion, at cursor: String? = nil) throws(SQLError) {
        _ = try insert(row(of: version) + [SQLValue(cursor)], of: "\(version)", counting: true)
        if try !hasRow(of: version, at: cursor) { throw notKept("\(version)") }
    }

    /// Moves the row of a version to another cursor, or marks it as done with `nil`.
    func move(_ version: AppVersion, to cursor: String?) throws(SQLError) {
        try session.db.query(
            "UPDATE \(table)\(session.withoutIndex) SET cursor = \(session.placeholder(3)) WHERE \(rowCondition)",
            row(of: version) + [SQLValue(cursor)]
        )
        if try !hasRow(of: version, at: cursor) { throw notKept("\(version)") }
    }

    /// True if the version's batches have reached this cursor; with `nil`, if the version is done.
    func hasRow(of version: AppVersion, at cursor: String?) throws(SQLError) -> Bool {
        try state(of: version) == cursor.map(State.begun) ?? .done
    }

    /// Removes the rows of this manager above a version.
    func remove(after version: AppVersion) throws(SQLError) {
        let sql =
            "SELECT version FROM \(table)\(session.withoutIndex) WHERE manager = \(session.placeholder(1))"
        for row in try session.db.query(sql, [.text(manager)]) {
            guard case .text(let text) = row.first, let found = AppVersion(text) else {
                throw unreadable("The table \(name) has a version that can't be read: \(row)")
            }
            guard found > version else { continue }
            try session.db.query(
                "DELETE FROM \(table)\(session.withoutIndex) WHERE \(rowCondition)",
                [.text(manager), .text(text)]
            )
        }
    }

    private func row(of version: AppVersion) -> [SQLValue] {
        [.text(manager), .text(Self.text(of: version))]
    }

    /// The same text for equal versions: `1.4` for `1.4.0`, `1.4-1` for `1.4.0-1`.
    static func text(of version: AppVersion) -> String {
        let text = version.description
        let rest = text.drop { $0 != "-" }
        var release = String(text.dropLast(rest.count))
        while release.hasSuffix(".0") { release.removeLast(2) }
        return release + rest
    }

    /// Calls the caller's closure, and writes its row in the same transaction, unless the row exists.
    ///
    /// - Returns: True if the closure ran.
    func runOnce(_ version: AppVersion) throws(SQLError) -> Bool {
        var hasRun = false
        try inTransactionWithoutForeignKeys { checking throws(SQLError) in
            try createOrUpgrade()
            switch try state(of: version) {
            case .done: return
            case .begun(let cursor):
                throw unreadable(
                    "Version \(version) was begun in batches, and is at the cursor \"\(cursor)\". Finish it with"
                        + " whenMigrating(toVersion:in:batches:)"
                )
            case .new: break
            }
            _ = try checking(nil) { () throws(SQLError) in
                try session.guardingTransaction { () throws(SQLError) in try session.db.call() }
            }
            try add(version)
            hasRun = true
        }
        return hasRun
    }

    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    private func inTransactionWithoutForeignKeys(
        _ body: (_ checking: @escaping ForeignKeyChecking) throws(SQLError) -> Void
    ) throws(SQLError) {
        try session.withLockTimeout(lockTimeout) { () throws(SQLError) in
            try session.withoutForeignKeys { checking throws(SQLError) in
                try transaction(durably: true) { () throws(SQLError) in try body(checking) }
            }
        }
    }

    /// Runs `body` in a transaction with the write lock.
    ///
    /// Throws if the caller has begun a transaction. Otherwise the caller could roll it back after the state
    /// file has recorded the version.
    func transaction(durably: Bool, _ body: SQLOperation) throws(SQLError) {
        try session.withCommits(durable: durably) { () throws(SQLError) in
            try session.transaction(SQLLockWait(lockTimeout, ledger: name), durably: durably, body)
        }
    }

    /// Makes the batches of a version durable after the last one has run.
    ///
    /// A power failure may undo the commit of a batch, depending on the connection's settings. It can't undo
    /// this commit, nor any commit before it.
    func synchronize(_ version: AppVersion) throws(SQLError) {
        try session.withLockTimeout(lockTimeout) { () throws(SQLError) in
            try transaction(durably: true) { () throws(SQLError) in
                // Another process may have reset the database after the last batch.
                if try !hasRow(of: version, at: nil) { throw notKept("\(version)") }
                // SQLite doesn't write a page for an UPDATE that changes nothing, so there must be a change.
                try move(version, to: "")
                try move(version, to: nil)
            }
        }
    }

    /// Removes the rows of a manager above a version, on an asynchronous connection.
    package static nonisolated(nonsending) func remove<Connection: AsyncSQLConnection>(
        from db: Connection,
        ledger: String,
        of manager: String,
        after version: AppVersion,
        lockTimeout: Duration
    ) async throws(SQLError) {
        let session = Connection.dialect.makeSession(SQLConversation(nil))
        let table = Self(session, named: ledger, of: manager, lockTimeout: lockTimeout)
        try await session.db.run(awaiting: db) { () throws(SQLError) in
            try table.removeInTransaction(after: version)
        }
    }

    /// Removes the rows of this manager above a version, in a transaction, if the table exists.
    func removeInTransaction(after version: AppVersion) throws(SQLError) {
        try session.withLockTimeout(lockTimeout) { () throws(SQLError) in try read() }
        if exists { try inTransactionWithoutForeignKeys { _ throws(SQLError) in try remove(after: version) } }
    }
}

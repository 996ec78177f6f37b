package import AppMigrations

/// The table `app_migrations` of a database, or one of another name: which versions of which manager have run in it, and
/// how far those came that run in batches.
///
/// A row is written in the transaction of its closure, so that the database itself knows what a state file
/// outside of it could not be told any more. One whose `cursor` is `NULL` stands for a version that is done.
package final class AppMigrationsTable: LedgerTable {
    let manager: String
    /// How long each transaction waits for another writer.
    let lockTimeout: Duration

    init(_ session: any SQLSession, named name: String, of manager: String, lockTimeout: Duration) {
        (self.manager, self.lockTimeout) = (manager, lockTimeout)
        super.init(session, named: name, columns: ["manager", "version", "cursor"], required: 2)
    }

    private var isThisRow: String {
        "manager = \(session.placeholder(1)) AND version = \(session.placeholder(2))"
    }

    /// The table's rows of a version.
    enum Place: Equatable {
        case new, begun(String), done

        var cursor: String? { if case .begun(let cursor) = self { cursor } else { nil } }
    }

    func createIfNeeded() throws(SQLError) {
        try read()
        if columns.contains("cursor") { return }
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

    func look(for version: AppVersion) throws(SQLError) -> Place {
        let expected = row(of: version)
        let sql = "SELECT cursor, manager, version FROM \(table)\(session.withoutIndex) WHERE \(isThisRow)"
        let rows = try session.db.query(sql, expected)
        // A column of numbers takes 1.10 for 1.1, and a collation one manager's name for another's.
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

    /// Adds the row of a version that is done, or whose batches have come to a cursor.
    func add(_ version: AppVersion, at cursor: String? = nil) throws(SQLError) {
        _ = try insert(row(of: version) + [SQLValue(cursor)], of: "\(version)", counting: true)
        if try !isThere(version, at: cursor) { throw notKept("\(version)") }
    }

    /// Moves the row of a version to another cursor, or to its end.
    func move(_ version: AppVersion, to cursor: String?) throws(SQLError) {
        try session.db.query(
            "UPDATE \(table)\(session.withoutIndex) SET cursor = \(session.placeholder(3)) WHERE \(isThisRow)",
            row(of: version) + [SQLValue(cursor)]
        )
        if try !isThere(version, at: cursor) { throw notKept("\(version)") }
    }

    func isThere(_ version: AppVersion, at cursor: String?) throws(SQLError) -> Bool {
        try look(for: version) == cursor.map(Place.begun) ?? .done
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
                "DELETE FROM \(table)\(session.withoutIndex) WHERE \(isThisRow)",
                [.text(manager), .text(text)]
            )
        }
    }

    private func row(of version: AppVersion) -> [SQLValue] {
        [.text(manager), .text(Self.text(of: version))]
    }

    /// One text for equal versions: `1.4` for `1.4.0`, `1.4-1` for `1.4.0-1`.
    static func text(of version: AppVersion) -> String {
        let text = version.description
        let rest = text.drop { $0 != "-" }
        var release = String(text.dropLast(rest.count))
        while release.hasSuffix(".0") { release.removeLast(2) }
        return release + rest
    }

    /// Calls the caller's closure in a transaction that also writes its row, unless the row is there already; tells whether it
    /// did.
    func runOnce(_ version: AppVersion) throws(SQLError) -> Bool {
        var hasRun = false
        try alone { checking throws(SQLError) in
            try createIfNeeded()
            switch try look(for: version) {
            case .done: return
            case .begun(let cursor):
                throw unreadable(
                    "Version \(version) was begun in batches, and is at the cursor \"\(cursor)\". Finish it with batches:"
                )
            case .new: break
            }
            _ = try checking(nil) { () throws(SQLError) in
                try session.behindSavepoint { () throws(SQLError) in try session.db.call() }
            }
            try add(version)
            hasRun = true
        }
        return hasRun
    }

    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    private func alone(_ body: (_ checking: @escaping SQLChecking) throws(SQLError) -> Void) throws(SQLError)
    {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try session.withoutForeignKeys { checking throws(SQLError) in
                try transaction(durably: true) { () throws(SQLError) in try body(checking) }
            }
        }
    }

    /// Runs `body` in a transaction with the write lock.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    func transaction(durably: Bool, _ body: SQLRules) throws(SQLError) {
        try session.lasting(durably: durably) { () throws(SQLError) in
            try session.transaction(SQLLockWait(lockTimeout, ledger: name), durably: durably, body)
        }
    }

    /// Brings the batches of a version to the disk, whose last one has run.
    ///
    /// The commit of a batch lasts as the connection's setting has it. This one lasts when the power fails, and with it
    /// all that were before.
    func synchronize(_ version: AppVersion) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try transaction(durably: true) { () throws(SQLError) in
                // Another process may have reset the database meanwhile.
                if try !isThere(version, at: nil) { throw notKept("\(version)") }
                // SQLite writes no page for an UPDATE that changes nothing.
                try move(version, to: "")
                try move(version, to: nil)
            }
        }
    }

    /// Removes the rows of a manager above a version, on a connection that is awaited.
    package static nonisolated(nonsending) func remove<Connection: AsyncSQLConnection>(
        from db: Connection,
        ledger: String,
        of manager: String,
        after version: AppVersion,
        lockTimeout: Duration
    ) async throws(SQLError) {
        let session = Connection.dialect.session(SQLConversation(nil))
        let table = Self(session, named: ledger, of: manager, lockTimeout: lockTimeout)
        try await session.db.run(awaiting: db) { () throws(SQLError) in
            try table.removeAlone(after: version)
        }
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in try read() }
        if exists { try alone { _ throws(SQLError) in try remove(after: version) } }
    }
}

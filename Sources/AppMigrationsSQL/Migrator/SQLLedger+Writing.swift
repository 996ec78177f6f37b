extension SQLLedger {
    /// The ledger of a database, made where it is still missing; the lock is held.
    func made() -> SQLWork<SQLLedger> {
        if exists { return .done(self) }
        let (session, name) = (session, name)
        return SQLLedger.reading(session, named: name).then { ledger in
            if ledger.exists { return .done(ledger) }
            // FMDBMigrationManager's table with three columns more, which it can leave out when it inserts.
            return SQLWork.statement(
                """
                CREATE TABLE \(session.table(name)) (
                    version \(session.integerType) UNIQUE NOT NULL,
                    name TEXT,
                    checksum TEXT,
                    applied_at TEXT
                )
                """
            ).then { SQLLedger.reading(session, named: name) }
        }
    }

    /// The columns of a ledger that this library made.
    private static let ownColumns = ["version", "name", "checksum", "applied_at"]

    /// Writes that a migration was applied.
    ///
    /// The insert of a table that is not this library's may leave the row out without an error, by ON CONFLICT IGNORE
    /// or RAISE(IGNORE), or take another one away. The migration would run at every start.
    func record(_ version: Int64, name: String?, checksum: String?) -> SQLWork<Void> {
        let table = session.table(self.name)
        var names = ["version"]
        var values = [session.placeholder(1)]
        var arguments: [SQLValue] = [.integer(version)]
        for (column, text) in [("name", name), ("checksum", checksum)] where columns.contains(column) {
            names.append(column)
            arguments.append(text.map { .text($0) } ?? .null)
            values.append(session.placeholder(arguments.count))
        }
        if columns.contains("applied_at") {
            names.append("applied_at")
            values.append(session.now)
        }
        let insert = SQLWork.statement(
            "INSERT INTO \(table) (\(names.joined(separator: ", ")))"
                + " VALUES (\(values.joined(separator: ", ")))",
            arguments
        )
        // One that this library made has neither; a look at the row is cheaper than two at the number of rows.
        let isForeign = columns != Self.ownColumns
        let count = { isForeign ? session.count(of: table) : SQLWork.done(0) }
        return count().then { before in
            insert.then(count).then { after in
                hasApplied(version).map { isThere in
                    if isThere, !isForeign || after == before + 1 { return }
                    throw Self.unreadable(
                        "The table \(self.name) did not keep the row of version \(version), or lost another"
                    )
                }
            }
        }
    }
}

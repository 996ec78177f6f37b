extension SQLLedger {
    /// Makes the ledger where it is still missing; the lock is held.
    func make() throws(SQLError) {
        if exists { return }
        try read()
        if exists { return }
        // FMDBMigrationManager's table with three columns more, which it can leave out when it inserts.
        try session.db.query(
            """
            CREATE TABLE \(table) (
                version \(session.integerType) UNIQUE NOT NULL,
                name TEXT,
                checksum TEXT,
                applied_at TEXT
            )
            """
        )
        try read()
    }

    /// The columns of a ledger that this library made.
    private static let ownColumns = ["version", "name", "checksum", "applied_at"]

    /// Writes that a migration was applied.
    ///
    /// The insert of a table that is not this library's may leave the row out without an error, by ON CONFLICT IGNORE
    /// or RAISE(IGNORE), or take another one away. The migration would run at every start.
    func record(_ version: Int64, name: String?, checksum: String?) throws(SQLError) {
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
        // One that this library made has neither; a look at the row is cheaper than two at the number of rows.
        let before = columns == Self.ownColumns ? nil : try session.count(of: table)
        try session.db.query(
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))",
            arguments
        )
        let hasGrown =
            try before.map { before throws(SQLError) in try session.count(of: table) == before + 1 } ?? true
        if try hasApplied(version), hasGrown { return }
        throw Self.unreadable(
            "The table \(self.name) did not keep the row of version \(version), or lost another"
        )
    }
}

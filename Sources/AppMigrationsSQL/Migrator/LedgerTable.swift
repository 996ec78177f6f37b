/// A table in which this library records what has run in a database.
package class LedgerTable {
    final let session: any SQLSession
    final let name: String

    /// The columns of a table that this library creates.
    private let ownColumns: [LedgerColumn]

    /// The columns of tables that this library accepts, although it creates them with more columns.
    private let olderForms: [[LedgerColumn]]

    /// The name of the table in statements.
    private(set) final var table: String

    /// The columns; empty before ``read()``, and if the table doesn't exist.
    private(set) final var columns = [LedgerColumn]()

    /// The indexes in `ownColumns` of the columns that the table has, and a statement that inserts a row with
    /// these columns.
    private lazy var insertion = {
        let existing = ownColumns.indices.filter { columns.contains(ownColumns[$0]) }
        let names = existing.map { ownColumns[$0].name }.joined(separator: ", ")
        let placeholders = existing.indices.map { session.placeholder($0 + 1) }.joined(separator: ", ")
        return (columns: existing, sql: "INSERT INTO \(table) (\(names)) VALUES (\(placeholders))")
    }()

    init(
        _ session: any SQLSession,
        named name: String,
        columns: [LedgerColumn],
        olderForms: [[LedgerColumn]]
    ) {
        self.session = session
        self.name = name
        ownColumns = columns
        self.olderForms = olderForms
        table = session.quoted(name)
    }

    final var exists: Bool { !columns.isEmpty }

    /// True if the table has exactly the columns that this library creates.
    final var hasExactlyOwnColumns: Bool { columns == ownColumns }

    final func hasColumn(_ name: String) -> Bool { columns.contains { $0.name == name } }

    /// Reads the columns, and throws unless they are exactly those of a ledger of this library.
    ///
    /// Any other table of this name belongs to the app or to another tool. If it were used, its version
    /// numbers would count as applied migrations, and these would never run.
    func read() throws(SQLError) {
        let rows = try session.columns(of: name)
        columns = []
        table = session.quoted(name)
        // If the database has a search path, this is the name with the schema in which the table was found.
        if let row = rows.first, row.count > 2, case .text(let found) = row[2] { table = found }
        let found = try rows.map { row throws(SQLError) in
            LedgerColumn(name: try row.text(0).lowercased(), type: Self.valueType(of: try row.text(1)))
        }
        guard found.isEmpty || found == ownColumns || olderForms.contains(found) else {
            throw try foreignError(for: found, in: rows)
        }
        columns = found
    }

    /// Reads the rows in one statement, if the connection can.
    ///
    /// If this returns false, the columns aren't known, and `body` wasn't called.
    final func readRows(
        newest: Int64?,
        _ body: (_ version: SQLValue, _ checksum: SQLValue?) throws(SQLError) -> Void
    ) throws(SQLError) -> Bool {
        guard try session.readLedger(name, with: ownColumns, newest: newest, body) else { return false }
        columns = ownColumns
        return true
    }

    /// The error for a table whose columns are none of this library's.
    ///
    /// `rows` has the name and the type of each column.
    private func foreignError(for found: [LedgerColumn], in rows: SQLRows) throws(SQLError) -> SQLError {
        let list = try rows.map { row throws(SQLError) in
            let type = try row.text(1)
            return try type.isEmpty ? row.text(0) : "\(row.text(0)) \(type)"
        }
        var advice = ""
        let names = Set(found.map { SQLName($0.name) })
        if let tool = KnownLedger.tool(of: names, in: name) {
            advice = ". It looks like the ledger of \(tool)"
        } else if names == Set(ownColumns.map { SQLName($0.name) }) {
            advice =
                ". If it was one, and a tool has changed the types or the order of its columns, change them back: with another"
                + " ledger, every migration runs again"
        }
        return SQLError(
            .foreignLedger,
            "The table \(name) is no ledger of this library, because its columns are \(list.joined(separator: ", "))\(advice)"
        )
    }

    /// The type of the values of a column with this declaration; `nil` if no ledger of this library has it.
    static func valueType(of declaration: String) -> LedgerColumn.ValueType? {
        switch declaration.uppercased() {
        case "INTEGER", "INT", "BIGINT", "SMALLINT": .integer
        case "TEXT": .text
        default: nil
        }
    }

    /// Inserts a row.
    ///
    /// There is a value for each of `ownColumns`, in that order. A value whose column the table lacks is left
    /// out.
    ///
    /// If another library created the table, the insert may skip the row without an error, by ON CONFLICT
    /// IGNORE or RAISE(IGNORE), or it may delete another row. Then a migration would run at every start. So
    /// if `isCounted` is true, this counts the rows before and after, and throws unless there is one more.
    ///
    /// - Returns: True if the row is known to be in the table. If false, the caller must read it.
    final func insert(
        _ values: [SQLValue],
        of version: String,
        counting isCounted: Bool
    ) throws(SQLError) -> Bool {
        let before = isCounted ? try count() : 0
        let hasInsertedOne = try session.insert(insertion.sql, insertion.columns.map { values[$0] })
        if isCounted, try count() != before + 1 { throw notKept(version) }
        return hasInsertedOne && !isCounted
    }

    private func count() throws(SQLError) -> Int64 {
        try session.db.number("SELECT count(*) FROM \(table)\(session.withoutIndex)")
    }

    final func unreadable(_ message: String) -> SQLError { SQLError(.ledgerUnreadable, message) }

    final func notKept(_ version: String) -> SQLError {
        unreadable("The table \(name) did not keep the row of version \(version), or lost another row")
    }
}

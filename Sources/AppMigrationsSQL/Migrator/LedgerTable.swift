/// A table in which this library records what has run in a database.
package class LedgerTable {
    final let session: any SQLSession
    final let name: String

    /// The columns of a table that this library creates, in lower case.
    private let ownColumns: [String]
    /// The columns that the table must have.
    private let requiredColumns: ArraySlice<String>

    /// The name of the table in statements.
    private(set) final var table: String

    /// The names of its columns in lower case; empty before ``read()``, and if the table doesn't exist.
    private(set) final var columns = [String]()

    /// The declared type of the column `version`; empty if it has none.
    private(set) final var versionType = ""

    /// The indexes in `ownColumns` of the columns that the table has, and a statement that inserts a row with
    /// these columns.
    private lazy var insertion = {
        let existing = ownColumns.indices.filter { columns.contains(ownColumns[$0]) }
        let names = existing.map { ownColumns[$0] }.joined(separator: ", ")
        let placeholders = existing.indices.map { session.placeholder($0 + 1) }.joined(separator: ", ")
        return (columns: existing, sql: "INSERT INTO \(table) (\(names)) VALUES (\(placeholders))")
    }()

    init(_ session: any SQLSession, named name: String, columns: [String], requiredCount: Int) {
        self.session = session
        self.name = name
        ownColumns = columns
        requiredColumns = columns.prefix(requiredCount)
        table = session.quoted(name)
    }

    final var exists: Bool { !columns.isEmpty }

    /// True if the table has exactly the columns that this library creates.
    final var hasExactlyOwnColumns: Bool { columns == ownColumns }

    /// Reads the columns, and throws if another tool created the table.
    ///
    /// Otherwise the tool's version numbers would count as applied migrations of the app.
    func read() throws(SQLError) {
        let rows = try session.columns(of: name)
        columns = []
        versionType = ""
        table = session.quoted(name)
        // If the database has a search path, this is the name with the schema in which the table was found.
        if let row = rows.first, row.count > 2, case .text(let found) = row[2] { table = found }
        for row in rows {
            columns.append(try row.text(0).lowercased())
            if columns.last == "version" { versionType = try row.text(1) }
        }
        if !exists { return }
        var foreign: (column: String, owner: String)?
        for column in columns where !ownColumns.contains(column) {
            switch column {
            case "dirty": foreign = (column, "golang-migrate's")
            case "inserted_at": foreign = (column, "Ecto's")
            case "installed_rank": foreign = (column, "Flyway's")
            default: foreign = foreign ?? (column, "another tool's")
            }
        }
        if let (column, owner) = foreign {
            throw SQLError(.foreignLedger, "The table \(name) is \(owner): it has a column \(column)")
        }
        for column in requiredColumns where !columns.contains(column) {
            throw unreadable("The table \(name) has no column \(column)")
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

/// A table in which this library records what ran in a database.
///
/// It notes the table's columns and rows as they are read.
package class LedgerTable {
    final let session: any SQLSession
    final let name: String

    /// The columns of a table that this library made, in lower case.
    private let ownColumns: [String]
    /// The columns without which it is no such table.
    private let required: ArraySlice<String>

    /// The table as it stands in a statement.
    private(set) final var table: String

    /// The names of its columns in lower case, none where there is no such table.
    private(set) final var columns = [String]()

    /// The declared type of its versions, empty for none.
    private(set) final var versionType = ""

    /// The places of its own columns that it has, and the statement that inserts a row with them.
    private lazy var insertion = {
        let kept = ownColumns.indices.filter { columns.contains(ownColumns[$0]) }
        let names = kept.map { ownColumns[$0] }.joined(separator: ", ")
        let places = kept.indices.map { session.placeholder($0 + 1) }.joined(separator: ", ")
        return (kept: kept, sql: "INSERT INTO \(table) (\(names)) VALUES (\(places))")
    }()

    init(_ session: any SQLSession, named name: String, columns: [String], required: Int) {
        self.session = session
        self.name = name
        (ownColumns, self.required) = (columns, columns.prefix(required))
        table = session.quoted(name)
    }

    final var exists: Bool { !columns.isEmpty }

    /// True if its columns are those that this library gives it.
    final var isOwn: Bool { columns == ownColumns }

    /// Reads which columns there are, and refuses the table of another tool, whose numbers would pass for migrations of the app
    /// that have run.
    func read() throws(SQLError) {
        let rows = try session.columns(of: name)
        (columns, versionType, table) = ([], "", session.quoted(name))
        // The schema in which a search path has found it.
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
        for column in required where !columns.contains(column) {
            throw unreadable("The table \(name) has no column \(column)")
        }
    }

    /// Inserts a row with those of the values, in the order of its own columns, that it has columns for.
    ///
    /// The insert of a table that is not this library's may leave the row out without an error, by ON CONFLICT IGNORE
    /// or RAISE(IGNORE), or take another one away. The migration would run at every start.
    ///
    /// - Returns: True if the row is there; otherwise it is to be looked for.
    final func insert(
        _ values: [SQLValue],
        of version: String,
        counting isCounted: Bool
    ) throws(SQLError) -> Bool {
        let before = isCounted ? try count() : 0
        let hasChangedOne = try session.insert(insertion.sql, insertion.kept.map { values[$0] })
        if isCounted, try count() != before + 1 { throw notKept(version) }
        return hasChangedOne && !isCounted
    }

    private func count() throws(SQLError) -> Int64 {
        try session.db.number("SELECT count(*) FROM \(table)\(session.withoutIndex)")
    }

    final func unreadable(_ message: String) -> SQLError { SQLError(.ledgerUnreadable, message) }

    final func notKept(_ version: String) -> SQLError {
        unreadable("The table \(name) did not keep the row of version \(version), or lost another row")
    }
}

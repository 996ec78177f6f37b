internal import AppMigrationsSQLite

/// What SQLite reads to evaluate an expression for the rows of a table.
struct ExpressionReads {
    /// The columns of the row itself.
    var columns = Set<SQLName>()
    /// The tables and views that a subquery reads.
    ///
    /// The row's own table can be one of them.
    var tables = Set<SQLName>()
    /// False if the expression calls a function that isn't registered here, so that it may read any table.
    var isComplete = true

    var isOfItsRowAlone: Bool { tables.isEmpty && isComplete }

    func mayRead(_ table: SQLName) -> Bool { !isComplete || tables.contains(table) }

    mutating func formUnion(_ other: ExpressionReads) {
        columns.formUnion(other.columns)
        tables.formUnion(other.tables)
        isComplete = isComplete && other.isComplete
    }
}

/// Asks SQLite what expressions and virtual tables read, in a copy of the schema in memory.
///
/// The row of an expression comes from a table with a name of its own. So it differs from what a subquery
/// reads of the same table. A connection of another library can't be asked, because it has its owner's
/// authorizer. The copy has none, but it can't compile what only that connection knows, such as a function of
/// the app.
struct ExpressionProbe {
    private var copy: SchemaCopy
    private let table: TableShape
    /// The name that the table has when the expressions are evaluated.
    private let name: SQLName
    private let row: String
    private let virtualTables: [SQLName]

    enum Answer {
        case reads(ExpressionReads)
        /// It doesn't compile, or has a name in double quotes that SQLite would treat as a text.
        case complaint(String)
    }

    init(
        of table: TableShape,
        named name: SQLName,
        in objects: [SchemaObject],
        without shadowTables: ShadowTables,
        renaming renames: [(old: SQLName, new: SQLName)] = [],
        preparing preparation: ConnectionPreparation
    ) throws(SQLError) {
        self.table = table
        self.name = name
        row = SchemaObject.unusedName(among: objects)
        virtualTables = objects.filter(\.isVirtual).map(\.name)
        copy = try SchemaCopy(preparing: preparation)
        // A module creates its shadow tables itself, and fails if they exist. After a VACUUM, they come
        // before the virtual table.
        let own = objects.filter { $0.kind != .table || shadowTables.owner(of: $0.name) == nil }
        try copy.make([.table, .view], of: own)
        for (old, new) in renames { _ = try copy.rename(old, to: new) }
        let columns = table.columns.map { column in
            "\(column.name.quoted)\(column.name == table.rowIDAlias ? " INTEGER PRIMARY KEY" : "")"
        }
        let key =
            table.isWithoutRowID ? ", PRIMARY KEY (\(table.columns[0].name.quoted))) WITHOUT ROWID" : ")"
        try db.query("CREATE TABLE main.\(row)(\(columns.joined(separator: ", "))\(key)")
    }

    private var db: SQLiteConnection { copy.db }

    /// What an expression reads for the rows of the table, which is on the connection `source`.
    func answer(about expression: String, on source: some SQLConnection) throws(SQLError) -> Answer {
        let names = SQLTokens(expression).inBackticks
        if let reads = try reads(names) { return .reads(reads) }
        let isOwn = (source as? SQLiteConnection)?.isBorrowed == false
        let compilesHere = try reads(expression) != nil
        let (judge, table): (any SQLConnection, String) =
            isOwn || compilesHere ? (db, row) : (source, self.table.name.quoted)
        guard let complaint = try judge.complaint(about: select(names, from: table)) else {
            let columns = try columns(of: names, in: table, on: judge)
            return .reads(ExpressionReads(columns: columns, isComplete: false))
        }
        guard let failure = try judge.complaint(about: select(expression, from: table)) else {
            let words = "has a name in double quotes that SQLite would treat as a text"
            return .complaint("\(words): \(complaint)")
        }
        return .complaint("does not compile: \(failure)")
    }

    /// The columns without which an expression doesn't compile, for an expression that compiles only on the
    /// app's connection.
    ///
    /// None if it doesn't compile for a subquery in the place of the table.
    private func columns(of expression: String, in table: String, on db: some SQLConnection)
        throws(SQLError) -> Set<SQLName>
    {
        let all = self.table.columns.map(\.name)
        func compiles(without column: SQLName?) throws(SQLError) -> Bool {
            let rowID = self.table.isWithoutRowID ? "NULL AS rowid" : "rowid AS rowid"
            let row = (all.filter { $0 != column }.map(\.quoted) + [rowID]).joined(separator: ", ")
            let source = "(SELECT \(row) FROM main.\(table)) AS \(name.quoted)"
            return try db.complaint(about: "SELECT (\(expression)\n) FROM \(source)") == nil
        }
        var read = Set<SQLName>()
        if try !compiles(without: nil) { return read }
        for column in all where try !compiles(without: column) { read.insert(column) }
        return read
    }

    /// True if an expression returns NULL for a row that has NULL in a column, and 1 in all others.
    func isNull(
        _ expression: String,
        without column: SQLName?,
        reading reads: ExpressionReads,
        on source: some SQLConnection
    ) throws(SQLError) -> Bool {
        // The copies of the tables that it reads are empty, so its result here says nothing.
        if !reads.tables.isEmpty { return false }
        let values = table.columns.map { "\($0.name == column ? "NULL" : "1") AS \($0.name.quoted)" }
        let row = "(SELECT \(values.joined(separator: ", "))) AS \(name.quoted)"
        let connection: any SQLConnection = reads.isComplete ? db : source
        do throws(SQLError) {
            return try connection.number("SELECT (\(expression)\n) IS NULL FROM \(row)") == 1
        } catch  where error.code == .statementFailed {
            // The expression has no result for such values.
            return false
        }
    }

    /// The query for an expression.
    ///
    /// The line end closes a comment at the end of the expression.
    private func select(_ expression: String, from table: String) -> String {
        "SELECT (\(expression)\n) FROM main.\(table) AS \(name.quoted)"
    }

    /// What an expression reads; `nil` if it doesn't compile in the copy.
    private func reads(_ expression: String) throws(SQLError) -> ExpressionReads? {
        var reads = ExpressionReads()
        let all: [(table: SQLName, column: SQLName)]
        do throws(SQLError) {
            all = try db.reads { () throws(SQLError) in _ = try db.prepare(select(expression, from: row)) }
        } catch  where error.code == .statementFailed { return nil }
        for (table, column) in all {
            if table == SQLName(row) {
                reads.columns.insert(column)
            } else {
                reads.tables.insert(table)
            }
        }
        return reads
    }

    /// The first virtual table that reads one of these columns of the table, with the column.
    ///
    /// A full-text index with the option `content` does. SQLite compiles its query when the rows of the index
    /// are read.
    func virtualTable(readingAnyOf columns: Set<SQLName>, except others: [SQLName] = []) throws(SQLError) -> (
        name: SQLName, column: SQLName
    )? {
        for virtual in virtualTables where !others.contains(virtual) {
            // The query may fail, because the table needs something that only the app's connection has.
            let all = try db.reads { () throws(SQLError) in
                _ = try copy.failure(of: "SELECT * FROM main.\(virtual.quoted) LIMIT 1")
            }
            let read = all.first { $0.table == name && columns.contains($0.column) }
            if let read { return (virtual, read.column) }
        }
        return nil
    }
}

extension SQLConnection {
    /// SQLite's message for a statement that it can't compile; `nil` if it can.
    ///
    /// A connection of another library runs `EXPLAIN QUERY PLAN`. The rows of `EXPLAIN` have values of the
    /// statement as texts, which the library may refuse to read.
    func complaint(about sql: String) throws(SQLError) -> String? {
        do throws(SQLError) {
            if let db = self as? SQLiteConnection {
                _ = try db.prepare(sql)
            } else {
                try rows("EXPLAIN QUERY PLAN \(sql)")
            }
            return nil
        } catch  where error.code == .statementFailed { return error.message }
    }
}

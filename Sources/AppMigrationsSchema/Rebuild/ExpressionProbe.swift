internal import AppMigrationsSQLite

/// The tables that SQLite reads to evaluate an expression for the rows of a table.
struct ExpressionReads {
    /// The columns of the row that the expression belongs to, without which it doesn't compile.
    var columns = Set<SQLName>()
    /// The tables and views that it reads besides, the row's own table among them.
    var tables = Set<SQLName>()
    /// True if SQLite could be asked: otherwise a function of the app may read any table, the row's own among them.
    var isComplete = true

    var isOfItsRowAlone: Bool { tables.isEmpty && isComplete }

    func mayRead(_ table: SQLName) -> Bool { !isComplete || tables.contains(table) }

    mutating func formUnion(_ other: ExpressionReads) {
        columns.formUnion(other.columns)
        tables.formUnion(other.tables)
        isComplete = isComplete && other.isComplete
    }
}

/// A copy of a schema in memory, in which SQLite is asked what expressions and virtual tables read.
///
/// The row of an expression comes from a table with a name of its own there, so that what a subquery reads of the same
/// table is told apart. A connection of another library keeps the authorizer of its owner, which a copy does without; but
/// what only that connection knows, such as a function of the app, cannot be compiled here.
struct ExpressionProbe {
    private var copy: SchemaCopy
    private let table: TableShape
    /// The name that the table has when the expressions are evaluated.
    private let name: SQLName
    private let row: String
    private let virtualTables: [SQLName]

    enum Answer {
        case reads(ExpressionReads)
        /// It doesn't compile, or would with a name in double quotes that SQLite takes for a text.
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
        // A module creates its shadow tables itself, and fails if they exist. After a VACUUM, they come before the
        // virtual table.
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

    /// The tables that an expression reads; `source` is the connection whose table it is for.
    func answer(_ expression: String, _ source: some SQLConnection) throws(SQLError) -> Answer {
        let names = SQLTokens(expression).inBackticks
        if let reads = try reads(names) { return .reads(reads) }
        let isOwn = (source as? SQLiteConnection)?.isBorrowed == false
        let compilesHere = try reads(expression) != nil
        let (judge, table): (any SQLConnection, String) =
            isOwn || compilesHere ? (db, row) : (source, self.table.name.quoted)
        guard let complaint = try judge.complaint(about: select(names, table)) else {
            let columns = try columns(of: names, on: judge, table)
            return .reads(ExpressionReads(columns: columns, isComplete: false))
        }
        guard let failure = try judge.complaint(about: select(expression, table)) else {
            let words = "has a name in double quotes that SQLite would treat as a text"
            return .complaint("\(words): \(complaint)")
        }
        return .complaint("does not compile: \(failure)")
    }

    /// The columns without which an expression does not compile; none where it does not with a row of its own either.
    private func columns(of expression: String, on db: some SQLConnection, _ table: String)
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

    /// True if an expression gives NULL to a row without a value in a column, whatever stands in its other columns.
    func isNull(
        _ expression: String,
        without column: SQLName?,
        _ reads: ExpressionReads,
        _ source: some SQLConnection
    ) throws(SQLError) -> Bool {
        // The tables that it reads are empty here.
        if !reads.tables.isEmpty { return false }
        let values = table.columns.map { "\($0.name == column ? "NULL" : "1") AS \($0.name.quoted)" }
        let row = "(SELECT \(values.joined(separator: ", "))) AS \(name.quoted)"
        let connection: any SQLConnection = reads.isComplete ? db : source
        do throws(SQLError) {
            return try connection.number("SELECT (\(expression)\n) IS NULL FROM \(row)") == 1
        } catch  where error.code == .statementFailed {
            // The expression takes no such values.
            return false
        }
    }

    /// The line end closes a comment that the expression may end with.
    private func select(_ expression: String, _ table: String) -> String {
        "SELECT (\(expression)\n) FROM main.\(table) AS \(name.quoted)"
    }

    /// `nil` where the expression does not compile here.
    private func reads(_ expression: String) throws(SQLError) -> ExpressionReads? {
        var reads = ExpressionReads()
        let all: [(table: SQLName, column: SQLName)]
        do throws(SQLError) {
            all = try db.reads { () throws(SQLError) in _ = try db.prepare(select(expression, row)) }
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

    /// The first virtual table that takes its values from one of these columns, with the column.
    ///
    /// A full-text index with the option `content` does. SQLite compiles how it reads them when its rows are asked for.
    func virtualTable(readingAnyOf columns: Set<SQLName>, but others: [SQLName] = []) throws(SQLError) -> (
        name: SQLName, column: SQLName
    )? {
        for virtual in virtualTables where !others.contains(virtual) {
            // An error is no answer: the table may need something that only the app's connection has.
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
    /// SQLite's words for a statement that it cannot compile.
    ///
    /// `EXPLAIN` alone would give values of the statement as if they were texts, which another library may refuse to read.
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

internal import AppMigrationsSQLite

/// Asks SQLite which columns and tables an expression or a virtual table reads, in a copy of the schema in
/// memory.
///
/// The row of an expression comes from a stand-in table with an unused name. So a read of the row can be told
/// apart from a subquery's read of the same table.
///
/// An authorizer records the reads. It can't be set on the connection of another library, which may have an
/// authorizer already. So the probe uses the copy, where an expression doesn't compile if it needs something
/// that only that connection has, such as a function of the app.
struct ExpressionProbe {
    private var copy: SchemaCopy
    private let table: TableShape
    /// The name that the table has when the expressions are evaluated.
    private let name: SQLName
    /// The name of the stand-in table.
    private let row: String
    private let virtualTables: [SQLName]

    /// The result of analyzing an expression.
    enum Analysis {
        case reads(ExpressionReads)
        /// The expression doesn't compile, or SQLite would treat one of its double-quoted names as a string
        /// literal.
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
        // Leave shadow tables out: a module creates its own, and fails if they exist. After a VACUUM they
        // precede the virtual table in the schema.
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

    /// Finds out which columns and tables an expression reads for the rows of the table, which exists on the
    /// connection `source`.
    ///
    /// The expression is tried in the copy, with its double-quoted names in backticks so that SQLite can't
    /// treat them as string literals. If it doesn't compile there, it has a mistake, or it uses a function
    /// that only `source` has. To find out which, it is tried on `source` if another library opened that
    /// connection.
    func analyze(_ expression: String, on source: some SQLConnection) throws(SQLError) -> Analysis {
        let names = SQLTokens(expression).inBackticks
        if let reads = try reads(of: names) { return .reads(reads) }
        let isOwn = (source as? SQLiteConnection)?.isBorrowed == false
        let compilesHere = try reads(of: expression) != nil
        // The error comes from the copy if this library opened `source`, because `preparing:` has to register
        // everything that such a connection needs. It also comes from the copy if the expression compiles
        // there with its double quotes: then its only mistake is a name that SQLite would treat as a string
        // literal.
        let usesCopy = isOwn || compilesHere
        let connection: any SQLConnection = usesCopy ? db : source
        let table = usesCopy ? row : self.table.name.quoted
        guard let complaint = try connection.complaint(about: select(names, from: table)) else {
            let columns = try columns(of: names, in: table, on: connection)
            return .reads(ExpressionReads(columns: columns, isComplete: false))
        }
        guard let failure = try connection.complaint(about: select(expression, from: table)) else {
            let problem = "has a double-quoted name that SQLite would treat as a string literal"
            return .complaint("\(problem): \(complaint)")
        }
        return .complaint("does not compile: \(failure)")
    }

    /// The columns that an expression reads, if it compiles only on the app's connection.
    ///
    /// The expression is tried with a subquery instead of the table. The subquery leaves out one column at a
    /// time. If the expression doesn't compile without a column, it reads that column. The result is empty if
    /// the expression doesn't compile even with a subquery that has all columns.
    private func columns(
        of expression: String,
        in table: String,
        on db: some SQLConnection
    ) throws(SQLError) -> Set<SQLName> {
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

    /// True if an expression is NULL for a row that has NULL in `column`, and 1 in every other column.
    func isNull(
        _ expression: String,
        without column: SQLName?,
        reading reads: ExpressionReads,
        on source: some SQLConnection
    ) throws(SQLError) -> Bool {
        // The copies of the tables that the expression reads are empty, so its result here means nothing.
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

    /// The columns and tables that an expression reads; `nil` if it doesn't compile in the copy.
    private func reads(of expression: String) throws(SQLError) -> ExpressionReads? {
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

    /// The first virtual table that reads one of these columns of the table, and that column.
    ///
    /// A full-text index with the option `content` reads another table. SQLite compiles its query only when
    /// the rows of the index are read, so a query for one row is run.
    func virtualTable(
        readingAnyOf columns: Set<SQLName>,
        except others: [SQLName] = []
    ) throws(SQLError) -> (name: SQLName, column: SQLName)? {
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
    /// To compile a statement that uses a virtual table, SQLite calls the table's module, which fails if the
    /// table's content is damaged.
    ///
    /// A connection of another library runs `EXPLAIN QUERY PLAN`. The rows of a plain `EXPLAIN` contain the
    /// statement's literals as text, which the library may refuse to read.
    func complaint(about sql: String) throws(SQLError) -> String? {
        do throws(SQLError) {
            if let db = self as? SQLiteConnection {
                _ = try db.prepare(sql)
            } else {
                try rows("EXPLAIN QUERY PLAN \(sql)")
            }
            return nil
        } catch  where error.code == .statementFailed || error.isVirtualTableDamage { return error.message }
    }
}

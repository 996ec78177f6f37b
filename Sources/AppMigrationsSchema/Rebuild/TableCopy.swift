internal import AppMigrationsSQLite

/// A ``TableRebuild`` that has been checked against one database and is ready to run.
struct TableCopy {
    let rebuild: TableRebuild
    /// The table's name as it is written in the schema.
    let table: SQLName
    let old: TableShape
    let new: TableShape
    /// The columns of the new table that get values, each with the expression for its value.
    let columnValues: [ColumnValue]
    /// The indexes to create again, in the order of the schema.
    let indexes: [SchemaObject]
    /// The triggers to create again, in the order of the schema.
    let triggers: [SchemaObject]
    /// All triggers of the table in `main`, which are dropped.
    ///
    /// This includes those that `dropping` names, which aren't created again.
    let droppedTriggers: [SchemaObject]
    /// The views that `dropping` names.
    let droppedViews: [SchemaObject]
    /// The names of columns of the old table that no column of the new one has.
    let removedColumnNames: Set<SQLName>
    /// The columns and tables that the expressions in `values` read.
    let reads: ExpressionReads
    /// True if the app uses `ANALYZE`, whose statistics of the table are lost with the old table.
    private let isAnalyzed: Bool

    struct ColumnValue {
        let column: String
        let expression: String
    }

    init(
        for rebuild: TableRebuild,
        on db: some SQLConnection,
        preparing preparation: ConnectionPreparation
    ) throws(SQLError) {
        self.rebuild = rebuild
        let objects = try SchemaObject.all(of: db)
        let shadowTables = try ShadowTables(among: objects, of: db, preparing: preparation)
        let object = try rebuild.rebuildableTable(in: objects, without: shadowTables, on: db)
        table = object.name
        old = try TableShape(of: try object.statement(), in: "main", on: db)
        let inTemp = try SchemaObject.all(of: db, in: "temp")
        // In `dropping`, a name that a column and another object share means the column.
        let dropped = Set(rebuild.dropping).subtracting(old.columns.map(\.name))
        let belonging = (objects + inTemp).filter {
            $0.table == object.name && $0.sql != nil && !dropped.contains($0.name)
        }
        indexes = belonging.filter { $0.kind == .index && $0.schema == "main" }
        triggers = belonging.filter { $0.kind == .trigger }
        droppedTriggers = objects.filter { $0.kind == .trigger && $0.table == object.name }
        droppedViews = objects.filter { $0.kind == .view && dropped.contains($0.name) }
        let trial = try rebuild.trial(
            of: rebuild.parsedCreateTable(named: table),
            replacing: old,
            indexes: indexes,
            on: db
        )
        new = trial.shape
        removedColumnNames = trial.removedColumnNames
        columnValues = try rebuild.columnValues(from: old, to: new)
        isAnalyzed = objects.contains { $0.name == SQLName("sqlite_stat1") }

        var reads = ExpressionReads()
        if !rebuild.values.isEmpty || objects.contains(where: \.isVirtual) {
            let probe = try ExpressionProbe(
                of: old,
                named: table,
                in: objects + inTemp,
                without: shadowTables,
                preparing: preparation
            )
            reads = try rebuild.readsOfValues(using: probe, on: db)
            let changedRowID = rebuild.changedRowID(from: old, to: new, with: columnValues)
            let changedColumns = removedColumnNames.union(changedRowID.map { [$0] } ?? [])
            try rebuild.checkVirtualTables(probe, changedColumns: changedColumns)
        }
        self.reads = reads
        try check(trial, among: objects, on: db)
    }

    /// Throws if the rebuild would lose or break something.
    private func check(
        _ trial: TableTrial,
        among objects: [SchemaObject],
        on db: some SQLConnection
    ) throws(SQLError) {
        try rebuild.checkColumns(from: old, to: new, reading: reads)
        try rebuild.checkDropping(from: old, to: new, among: objects)
        if let broken = trial.broken {
            throw rebuild.refusal(of: broken.index, because: broken.complaint, in: old)
        }
        try rebuild.checkTriggers(triggers, of: old, lacking: removedColumnNames)
        try rebuild.checkKeptColumns(from: old, to: new, in: db)
    }

    func run(_ db: some SQLConnection) throws(SQLError) {
        // The number of rows can change only if an expression contains an aggregate function. So without
        // expressions the rows aren't counted, which would read a whole index.
        let count =
            rebuild.values.isEmpty ? nil : try db.number("SELECT count(*) FROM main.\(table.quoted)")
        let highest = try highestNumber(db)
        for trigger in try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")
        where trigger.kind == .trigger && trigger.table == table {
            try db.rows("DROP TRIGGER \(trigger.qualifiedName)")
        }
        let copied = try copy(db)
        // Drop these views after the copy, because an expression may read them.
        for view in droppedViews { try db.rows("DROP VIEW \(view.qualifiedName)") }
        if let count, copied != count {
            throw rebuild.refusal(
                "Only \(copied) of \(count) rows would be left",
                advice:
                    "An expression in values must return one value for each row, so it can't contain an aggregate function"
            )
        }
        if new.hasAutoincrement, try highestNumber(db) < highest {
            let name = SQLValue.text(new.name.text)
            try db.rows("DELETE FROM main.sqlite_sequence WHERE name = ? COLLATE NOCASE", [name])
            try db.rows("INSERT INTO main.sqlite_sequence VALUES (?1, ?2)", [name, .integer(highest)])
        }
        for trigger in triggers { try db.rows(try trigger.statement().text(in: trigger.schema)) }
        if isAnalyzed { try analyze(db) }
    }

    /// Runs `ANALYZE`.
    ///
    /// The old table's statistics are lost. Without new ones, some queries would be much slower until the app
    /// itself runs `ANALYZE`.
    private func analyze(_ db: some SQLConnection) throws(SQLError) {
        let limit = try db.number("PRAGMA analysis_limit")
        // Some thousand rows of each index are enough for statistics ("PRAGMA analysis_limit").
        try db.rows("PRAGMA analysis_limit = 1000")
        do throws(SQLError) { try db.rows("ANALYZE main.\(new.name.quoted)") } catch {
            try db.rows("PRAGMA analysis_limit = \(limit)")
            throw error
        }
        try db.rows("PRAGMA analysis_limit = \(limit)")
    }

    /// Creates the new table, copies the rows into it, and drops the old table.
    ///
    /// - Returns: The number of rows in the new table.
    private func copy(_ db: some SQLConnection) throws(SQLError) -> Int64 {
        let objects = try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")
        let stash = SchemaObject.unusedName(among: objects)
        let isMovedAside = try moveAside(to: stash, on: db)
        if isMovedAside {
            // This frees the names for the new indexes, and the pages for the rows.
            for index in indexes { try db.rows("DROP INDEX \(index.qualifiedName)") }
        } else {
            for statement in stashStatements(to: stash) { try db.rows(statement) }
            try db.rows("DROP TABLE main.\(table.quoted)")
        }
        try db.rows(rebuild.createTable)
        do throws(SQLError) { try db.rows(fillStatement(from: stash, isMovedAside: isMovedAside)) } catch {
            if error.code != .statementFailed { throw error }
            throw try addingRow(to: error, from: stash, isMovedAside: isMovedAside, on: db)
        }
        let count = try db.number("SELECT changes()")
        // Create the indexes before the old table is dropped. Otherwise they would reuse its pages, and
        // SQLite would have to write the old content of these pages to the journal.
        for index in indexes { try db.rows(try index.statement().text(in: "main")) }
        try db.rows("DROP TABLE main.\(stash)")
        return count
    }

    /// The columns of the intermediate table: `c0`, `c1` and so on.
    private var stashColumns: String { columnValues.indices.map { "c\($0)" }.joined(separator: ", ") }

    private var expressions: String { columnValues.map(\.expression).joined(separator: ", ") }

    /// The statements that store the new table's rows in an intermediate table.
    ///
    /// They run while the old table still has its name, because an expression reads it in a subquery. The
    /// columns of the intermediate table have no types, so no value is converted on the way.
    func stashStatements(to stash: String) -> [String] {
        [
            "CREATE TABLE main.\(stash)(\(stashColumns))",
            "INSERT INTO main.\(stash) SELECT \(expressions) FROM main.\(table.quoted)",
        ]
    }

    /// The statement that moves the old table aside.
    func renameStatement(to stash: String) -> String { "ALTER TABLE main.\(table.quoted) RENAME TO \(stash)" }

    /// The statement that fills the new table.
    ///
    /// "OR FAIL" overrides the `ON CONFLICT` clauses of the new table, which would leave rows out or delete
    /// others ("The ON CONFLICT Clause"). With ABORT, SQLite would also keep a journal for the statement
    /// alone, which costs time.
    func fillStatement(from stash: String, isMovedAside: Bool) -> String {
        let target = "\(new.name.quoted)(\(columnValues.map(\.column).joined(separator: ", ")))"
        return
            "INSERT OR FAIL INTO main.\(target) SELECT \(selection(from: stash, isMovedAside: isMovedAside))"
    }

    private func selection(from stash: String, isMovedAside: Bool) -> String {
        isMovedAside
            ? "\(expressions) FROM main.\(stash) AS \(table.quoted)"
            : "\(stashColumns) FROM main.\(stash) ORDER BY rowid"
    }

    /// Adds the key of the row that the new table refused to an error of the copy.
    ///
    /// The rows before it are in the new table: "the FAIL resolution does not back out prior changes of the
    /// SQL statement that failed" (The ON CONFLICT Clause). So the refused row is the next row of the same
    /// query. Only the key is added to that query, because SQLite may read the rows in another order for
    /// another query.
    private func addingRow(
        to error: SQLError,
        from stash: String,
        isMovedAside: Bool,
        on db: some SQLConnection
    ) throws(SQLError) -> SQLError {
        let copied = try db.number("SELECT count(*) FROM main.\(new.name.quoted)")
        let next = "LIMIT 1 OFFSET \(copied)"
        // For some errors, SQLite undoes the whole statement. Then the next row isn't the refused one. So
        // insert the next row again, and check that it fails with the same error.
        let rest = fillStatement(from: stash, isMovedAside: isMovedAside) + " " + next
        guard try failsAgain(rest, as: error, on: db) else { return error }
        let keys = isMovedAside ? old.keyNames : []
        let columns = (keys + [selection(from: stash, isMovedAside: isMovedAside)]).joined(separator: ", ")
        let row: [SQLValue]?
        do throws(SQLError) {
            row = try db.rows("SELECT \(columns) \(next)").first
        } catch let failure {
            if failure.code == .cancelled { throw failure }
            // An expression fails for that row, or the connection can't read one of its values.
            return error
        }
        guard let row, let key = key(of: row, isMovedAside: isMovedAside) else { return error }
        return error.with { $0.message += " in the row with \(key)" }
    }

    /// Runs a statement again, and returns true if it fails with the same message as before.
    ///
    /// If it succeeds, the new rows don't matter: the caller throws, and the transaction is rolled back.
    private func failsAgain(
        _ sql: String,
        as error: SQLError,
        on db: some SQLConnection
    ) throws(SQLError) -> Bool {
        do throws(SQLError) { try db.rows(sql) } catch let failure {
            if failure.code == .cancelled { throw failure }
            return failure.message == error.message
        }
        return false
    }

    /// A row's key in words: the key of the old table if the row contains it, and otherwise the key of the
    /// new table; `nil` if the row contains neither.
    private func key(of row: [SQLValue], isMovedAside: Bool) -> String? {
        if isMovedAside, !old.keyNames.isEmpty { return old.description(ofKey: old.keyNames, values: row) }
        let columns = columnValues.map { SQLTokens($0.column).name(0) }
        for names in [new.keyNames, new.primaryKeyNames] {
            let indexes = names.compactMap { key in columns.firstIndex(of: SQLTokens(key).name(0)) }
            if indexes.isEmpty || indexes.count < names.count { continue }
            return new.description(ofKey: names, values: indexes.map { row[$0] })
        }
        return nil
    }

    /// Renames the old table to `stash`.
    ///
    /// - Returns: False if the table has to keep its name, because an expression reads a table in a subquery,
    ///   or because SQLite can't rename it.
    func moveAside(to stash: String, on db: some SQLConnection) throws(SQLError) -> Bool {
        // A subquery or a view would read the new table under this name.
        if !reads.readsOnlyOwnRow { return false }
        do throws(SQLError) {
            try db.rows(renameStatement(to: stash))
            return true
        } catch  where error.code == .statementFailed {
            // A CHECK or an index that contains the table's name doesn't compile under another name.
            return false
        }
    }

    /// The highest number that the table's `AUTOINCREMENT` column ever had ("SQLite Autoincrement"); -1 if
    /// the table has no such column, or never had a row.
    ///
    /// The new table continues from this number. Otherwise new rows could get the numbers of deleted rows.
    private func highestNumber(_ db: some SQLConnection) throws(SQLError) -> Int64 {
        let tableCount = "SELECT count(*) FROM main.sqlite_master WHERE name = 'sqlite_sequence'"
        if try db.number(tableCount) == 0 { return -1 }
        let name = "name = \(SQLValue.text(table.text)) COLLATE NOCASE"
        return try db.number("SELECT coalesce(max(seq), -1) FROM main.sqlite_sequence WHERE \(name)")
    }
}

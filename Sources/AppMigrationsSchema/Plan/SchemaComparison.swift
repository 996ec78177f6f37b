internal import AppMigrationsSQLite

/// The differences between a database's schema and its target, and the questions that the hints leave open.
struct SchemaComparison {
    let start: SchemaSnapshot
    let target: SchemaSnapshot
    /// Compares the objects of `start` with those of `target`.
    let form: SchemaForm
    /// The tables to rename, in an order in which each new name is free.
    private(set) var renamedTables = [SchemaRenames.Rename]()
    /// The tables that exist in both schemas and differ.
    private(set) var tables = [TableChange]()
    /// The tables to drop.
    ///
    /// The target doesn't have them, or they have to be replaced because the old or the new one is a virtual
    /// table.
    private(set) var droppedTables = [SQLName]()
    private(set) var questions = [SchemaPlan.Question]()
    /// The names that columns of a table lose, because they are dropped or renamed.
    private(set) var removedColumnNames = Set<SQLName>()

    private let hints: SchemaPlan.Hints
    let preparation: ConnectionPreparation
    /// The private database in which the target has been run.
    let targetDatabase: SQLiteConnection

    init(
        from: (db: some SQLConnection, schema: SchemaSnapshot),
        to: (db: SQLiteConnection, schema: SchemaSnapshot),
        hints: SchemaPlan.Hints,
        preparing preparation: ConnectionPreparation
    ) throws(SQLError) {
        self.hints = hints
        self.preparation = preparation
        targetDatabase = to.db
        start = from.schema
        target = to.schema
        form = SchemaForm(start, target)
        let renames = try Self.renames(from: start, to: target, hints: hints)
        renamedTables = renames.pending.map {
            (start[.table, $0]?.name ?? $0, target[.table, $1]?.name ?? $1)
        }
        for object in start.objects where object.kind == .table {
            let renamed = renames[object.name]
            let name = renamed ?? object.name
            guard let wanted = target[.table, name] else {
                droppedTables.append(object.name)
                if !renames.droppedNames.contains(object.name), !hints.allowsDrop(of: object.name) {
                    questions.append(try question(aboutRemoved: object.name, in: from.db))
                }
                continue
            }
            let oldStatement = try object.statement()
            let newStatement = try wanted.statement()
            if oldStatement.kind == .table, newStatement.kind == .table, hints.allowsDrop(of: name) {
                throw Self.contradiction("The hints drop the table \(name), and the target has it")
            }
            if renamed == nil, form.areSame(object, wanted) { continue }
            if oldStatement.kind == .virtualTable || newStatement.kind == .virtualTable {
                try replace(object, ofKind: oldStatement.kind, in: from.db)
                continue
            }
            var change = try TableChange(
                from: (object, TableShape(of: oldStatement, in: "main", on: from.db)),
                to: (wanted, TableShape(of: newStatement, in: "main", on: to.db)),
                hints: hints
            )
            try complete(&change, on: from.db)
            tables.append(change)
            questions += change.questions
            removedColumnNames.formUnion(change.removedColumnNames)
        }
    }

    /// Applies the value hints to a change, and asks about the old columns that it doesn't use.
    private func complete(_ change: inout TableChange, on db: some SQLConnection) throws(SQLError) {
        let reads = try applyHints(to: &change, on: db)
        let table = change.old.name
        try change.askAboutUnusedColumns(reads: reads, hints: hints) { column throws(SQLError) in
            try db.number("SELECT count(\(column.quoted)) FROM main.\(table.quoted)")
        }
    }

    static func renames(
        from start: SchemaSnapshot,
        to target: SchemaSnapshot,
        hints: SchemaPlan.Hints
    ) throws(SQLError) -> SchemaRenames {
        let asked = hints.renamedTables.map { (old: SQLName($0.key), new: SQLName($0.value)) }
        return try SchemaRenames(
            asked.sorted { $0.old.text < $1.old.text },
            from: { start[.table, $0] != nil },
            to: { target[.table, $0] != nil },
            mayDrop: hints.allowsDrop
        ) { old, new, reason in
            contradiction("The hints rename the table \(old) to \(new), \(reason)")
        }
    }

    /// Applies the value hints to a change.
    ///
    /// - Returns: The columns and tables that the expressions of the hints read. A table that is renamed has
    ///   its new name.
    private func applyHints(
        to change: inout TableChange,
        on db: some SQLConnection
    ) throws(SQLError) -> ExpressionReads {
        var reads = ExpressionReads()
        if change.valueHints.isEmpty { return reads }
        let objects = try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")
        let probe = try ExpressionProbe(
            of: change.old,
            named: change.new.name,
            in: objects,
            without: start.shadowTables,
            renaming: renamedTables,
            preparing: preparation
        )
        for hint in change.valueHints {
            if hint.isOwnName {
                reads.formUnion(change.keep(hint))
            } else {
                reads.formUnion(try apply(hint, to: &change, probe: probe, on: db))
            }
        }
        return reads
    }

    /// Analyzes the expression of a value hint, and applies the hint to a change.
    private func apply(
        _ hint: TableChange.ValueHint,
        to change: inout TableChange,
        probe: ExpressionProbe,
        on db: some SQLConnection
    ) throws(SQLError) -> ExpressionReads {
        let source = change.source(of: hint.column)?.name
        let keys = [change.new.rowIDAlias, change.old.rowIDAlias]
        /// True if the expression returns NULL for a row without a value in the column, and a question asks
        /// for a value there.
        func returnsNull(
            _ expression: String,
            reading reads: ExpressionReads
        ) throws(SQLError) -> Bool {
            // A row without a value for its INTEGER PRIMARY KEY gets a number from SQLite.
            if hint.questionAboutNulls == nil || keys.contains(hint.column) { return false }
            return try probe.isNull(expression, without: source, reading: reads, on: db)
        }
        switch try probe.analyze(hint.expression, on: db) {
        case .reads(let reads):
            // If the column is new, this expression can't read it. Then the result doesn't depend on a value
            // in the column.
            let isNull = source == nil ? false : try returnsNull(hint.expression, reading: reads)
            return change.use(hint, reading: reads, isNull: isNull)
        case .complaint(let complaint):
            guard let named = change.usingTargetNames(hint),
                case .reads(let reads) = try probe.analyze(named.expression, on: db)
            else { throw Self.valueError(for: hint.column, of: change.new.name, complaint) }
            // The expression uses names that only the target has, so it was written for databases of a later
            // release. If no question was asked about the column, skip the hint: the column gets its default.
            if hint.questions.isEmpty { return ExpressionReads() }
            let isNull = try returnsNull(named.expression, reading: reads)
            return change.use(named, reading: reads, isNull: isNull)
        }
    }

    private static func valueError(
        for column: SQLName,
        of table: SQLName,
        _ complaint: String
    ) -> SQLError {
        contradiction(
            "The value for the column \(column) of the table \(table) \(complaint)",
            advice: SQLError.advice(correctHints, forExpressionFailing: complaint)
        )
    }

    /// Refuses to rename a table or a column that a full-text index is filled from.
    ///
    /// The `content` option of the index names it, and SQLite doesn't change that option in a rename.
    func refuseRenamesBreakingFullTextIndexes(in db: some SQLConnection) throws(SQLError) {
        let objects = try SchemaObject.all(of: db)
        if !objects.contains(where: \.isVirtual) { return }
        for change in tables {
            let isRenamed = change.old.name != change.new.name
            let columns = isRenamed ? change.old.columns.map(\.name) : change.renamed.map(\.old)
            if columns.isEmpty { continue }
            let probe = try ExpressionProbe(
                of: change.old,
                named: change.old.name,
                in: objects,
                without: start.shadowTables,
                preparing: preparation
            )
            guard let found = try probe.virtualTable(readingAnyOf: Set(columns), except: droppedTables) else {
                continue
            }
            let name =
                isRenamed
                ? "table \(change.old.name)" : "column \(found.column) of the table \(change.old.name)"
            throw SQLError(
                .refusedSchemaChange,
                "The virtual table \(found.name) is filled from the \(name) and would not find it under its new name."
                    + " Nothing was changed. Drop the virtual table in a migration first, and create and fill it again"
                    + " afterwards"
            )
        }
    }

    /// The question about a table that the target doesn't have: whether it is renamed or dropped.
    ///
    /// Its first candidates are new tables with the same columns.
    private func question(
        aboutRemoved table: SQLName,
        in db: some SQLConnection
    ) throws(SQLError) -> SchemaPlan.Question {
        func columns(of table: SQLName, on db: some SQLConnection) throws(SQLError) -> Set<SQLName> {
            let sql = "SELECT name FROM pragma_table_info(\(SQLValue.text(table.text)))"
            return Set(try db.texts(sql).map { SQLName($0) })
        }
        var oldColumns = Set<SQLName>()
        var rowCount: Int64?
        do throws(SQLError) {
            oldColumns = try columns(of: table, on: db)
            rowCount = try db.number("SELECT count(*) FROM main.\(table.quoted)")
        } catch {
            // A virtual table may be damaged, or need a module that this connection lacks. It can still be
            // dropped.
            if error.code == .cancelled || start[.table, table]?.isVirtual != true { throw error }
        }
        var similarNewTables = [SQLName]()
        var otherNewTables = [SQLName]()
        var possibleOriginals = [SQLName]()
        let taken = Set(renamedTables.map(\.new))
        for object in target.objects where object.kind == .table && !taken.contains(object.name) {
            let newColumns = try columns(of: object.name, on: targetDatabase)
            let hasNameOfCopy = table.text.hasPrefix("\(object.name.text)_")
            let isCopy = hasNameOfCopy && !newColumns.isDisjoint(with: oldColumns)
            let isSimilar = isCopy || newColumns == oldColumns
            if start[.table, object.name] != nil {
                if isSimilar { possibleOriginals.append(object.name) }
            } else if isSimilar {
                similarNewTables.append(object.name)
            } else {
                otherNewTables.append(object.name)
            }
        }
        var question = SchemaPlan.Question(
            .droppedTable,
            table: table,
            candidates: similarNewTables + otherNewTables
        )
        if let object = start[.table, table], object.isVirtual {
            question.contentTables = try contentTables(of: object).map(\.text)
        }
        // An index with a content table has no rows of its own, so none would be lost.
        if question.contentTables.isEmpty { question.rowCount = rowCount }
        question.similarTables = possibleOriginals.map(\.text)
        return question
    }

    /// Plans to drop a table and create it again, because the old or the new one is a virtual table.
    ///
    /// The rows that the table stores itself are lost, so a question is asked unless the hints allow the
    /// drop.
    private mutating func replace(
        _ table: SchemaObject,
        ofKind kind: CreateStatement.Kind,
        in db: some SQLConnection
    ) throws(SQLError) {
        droppedTables.append(table.name)
        if hints.allowsDrop(of: table.name) { return }
        var question = SchemaPlan.Question(
            kind == .virtualTable ? .replacedTable : .droppedTable,
            table: table.name
        )
        // The rows of a virtual table aren't counted, because this connection may lack its module.
        if kind == .virtualTable {
            question.contentTables = try contentTables(of: table).map(\.text)
            question.newContentTables = try newContentTables(of: table.name).map(\.text)
        } else {
            question.rowCount = try db.number("SELECT count(*) FROM main.\(table.name.quoted)")
        }
        questions.append(question)
    }

    /// The tables from which a virtual table of the database is filled; empty if it has rows of its own.
    private func contentTables(of table: SchemaObject) throws(SQLError) -> [SQLName] {
        var copy = try SchemaCopy(preparing: preparation)
        try copy.make([.table, .view], of: start.objects)
        return try FullTextIndex.contentTables(of: table.name, in: copy.db, schema: start)
    }

    /// The tables from which a virtual table of the target has to be filled; empty if it has rows of its own.
    func newContentTables(of name: SQLName) throws(SQLError) -> [SQLName] {
        guard let table = target[.table, name], table.isVirtual else { return [] }
        return try FullTextIndex.contentTables(of: name, in: targetDatabase, schema: target)
    }

    /// The error for hints that contradict the target, or one another.
    static func contradiction(_ message: String, advice: String = correctHints) -> SQLError {
        SQLError(.refusedSchemaChange, "\(message). Nothing was changed. \(advice)")
    }

    private static let correctHints = "Correct the hints"
}

internal import AppMigrationsSQLite

/// The differences between a database's schema and its target, and the questions that the hints leave open.
struct SchemaComparison {
    let start: SchemaSnapshot
    let target: SchemaSnapshot
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
    /// The names of the columns that the target's tables don't have any more.
    private(set) var missingColumns = Set<SQLName>()

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
        let renames = try Self.renames(from: start, to: target, hints: hints)
        renamedTables = renames.pending.map {
            (start[.table, $0]?.name ?? $0, target[.table, $1]?.name ?? $1)
        }
        let form = SchemaForm(start, target)
        for object in start.objects where object.kind == .table {
            let renamed = renames[object.name]
            let name = renamed ?? object.name
            guard let wanted = target[.table, name] else {
                droppedTables.append(object.name)
                if !renames.droppedNames.contains(object.name), !hints.allowsDrop(of: object.name) {
                    questions.append(try question(aboutMissing: object.name, from.db))
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
                try replace(object, ofKind: oldStatement.kind, from.db)
                continue
            }
            var change = try TableChange(
                from: (object, TableShape(of: oldStatement, in: "main", from.db)),
                to: (wanted, TableShape(of: newStatement, in: "main", to.db)),
                hints: hints
            )
            let reads = try applyHints(to: &change, on: from.db)
            try change.askAboutUnusedColumns(reads: reads, hints: hints) { column throws(SQLError) in
                let sql = "SELECT count(\(column.quoted)) FROM main.\(object.name.quoted)"
                return try from.db.number(sql)
            }
            tables.append(change)
            questions += change.questions
            missingColumns.formUnion(change.missingColumns)
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
            mayGo: hints.allowsDrop
        ) { old, new, reason in
            contradiction("The hints rename the table \(old) to \(new), \(reason)")
        }
    }

    /// Applies the value hints to a change, and returns what their expressions read, with the new names of
    /// tables.
    private func applyHints(
        to change: inout TableChange,
        on db: some SQLConnection
    ) throws(SQLError) -> ExpressionReads {
        var reads = ExpressionReads()
        if change.answers.isEmpty { return reads }
        let objects = try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")
        let probe = try ExpressionProbe(
            of: change.old,
            named: change.new.name,
            in: objects,
            without: start.shadowTables,
            renaming: renamedTables,
            preparing: preparation
        )
        let keys = [change.new.rowIDAlias, change.old.rowIDAlias]
        /// True if the hint returns NULL for a row without a value in `column`.
        func returnsNull(
            _ answer: TableChange.ValueHint,
            without column: SQLName?,
            reading reads: ExpressionReads
        ) throws(SQLError) -> Bool {
            // A row without a value for its INTEGER PRIMARY KEY gets a number from SQLite.
            if answer.questionAboutNulls == nil || keys.contains(answer.column) { return false }
            return try probe.isNull(answer.expression, without: column, reading: reads, on: db)
        }
        for var answer in change.answers {
            if answer.isOwnName {
                reads.formUnion(change.keep(answer))
                continue
            }
            let source = change.source(of: answer.column)?.name
            // The expression for a new column can read that column only if it was written for a later
            // release.
            var mayBeNull = source != nil
            var found = try probe.answer(about: answer.expression, on: db)
            if case .complaint = found, let named = change.usingTargetNames(answer),
                case .reads(let more) = try probe.answer(about: named.expression, on: db)
            {
                // No question was asked about the column, so the hint is for a later release. Skip it: the
                // column gets its default.
                if answer.questions.isEmpty { continue }
                answer = named
                mayBeNull = true
                found = .reads(more)
            }
            switch found {
            case .reads(let more):
                let isNull = mayBeNull ? try returnsNull(answer, without: source, reading: more) : false
                reads.formUnion(change.use(answer, reading: more, isNull: isNull))
            case .complaint(let complaint):
                let error = Self.contradiction(
                    "The value for the column \(answer.column) of the table \(change.new.name) \(complaint)"
                )
                guard let advice = error.registrationAdvice else { throw error }
                throw error.with { $0.message += ", or register what the expression needs. \(advice)" }
            }
        }
        return reads
    }

    /// Refuses to rename a table or a column that a full-text index is filled from.
    ///
    /// The `content` option of the index names it, and SQLite doesn't change that option in a rename.
    func refuseRenamesBreakingFullTextIndexes(_ db: some SQLConnection) throws(SQLError) {
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
        aboutMissing table: SQLName,
        _ db: some SQLConnection
    ) throws(SQLError) -> SchemaPlan.Question {
        func columns(of table: SQLName, on db: some SQLConnection) throws(SQLError) -> Set<SQLName> {
            let sql = "SELECT name FROM pragma_table_info(\(SQLValue.text(table.text)))"
            return Set(try db.texts(sql).map { SQLName($0) })
        }
        var mine = Set<SQLName>()
        var rowCount: Int64?
        do throws(SQLError) {
            mine = try columns(of: table, on: db)
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
            let theirs = try columns(of: object.name, on: targetDatabase)
            let isCopy = table.text.hasPrefix("\(object.name.text)_") && !theirs.isDisjoint(with: mine)
            switch (isNew: start[.table, object.name] == nil, isAlike: isCopy || theirs == mine) {
            case (true, true): similarNewTables.append(object.name)
            case (true, false): otherNewTables.append(object.name)
            case (false, let isAlike): if isAlike { possibleOriginals.append(object.name) }
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
        // The rows of an index are those of its content table.
        if question.contentTables.isEmpty { question.rowCount = rowCount }
        question.alike = possibleOriginals.map(\.text)
        return question
    }

    /// Plans to drop a table and create it again, and asks first, because the rows that it stores itself are
    /// lost.
    private mutating func replace(
        _ table: SchemaObject,
        ofKind kind: CreateStatement.Kind,
        _ db: some SQLConnection
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
            question.fillingTables = try fillingTables(of: table.name).map(\.text)
        } else {
            question.rowCount = try db.number("SELECT count(*) FROM main.\(table.name.quoted)")
        }
        questions.append(question)
    }

    /// The tables from which an index of the database is filled; empty for a table with rows of its own.
    private func contentTables(of table: SchemaObject) throws(SQLError) -> [SQLName] {
        var copy = try SchemaCopy(preparing: preparation)
        try copy.make([.table, .view], of: start.objects)
        return try FullTextIndex.contentTables(of: table.name, in: copy.db, schema: start)
    }

    /// The tables from which an index that the target makes has to be filled.
    func fillingTables(of index: SQLName) throws(SQLError) -> [SQLName] {
        guard let table = target[.table, index], table.isVirtual else { return [] }
        return try FullTextIndex.contentTables(of: index, in: targetDatabase, schema: target)
    }

    /// The error for hints that contradict the target, or one another.
    static func contradiction(_ message: String) -> SQLError {
        SQLError(.refusedSchemaChange, "\(message). Nothing was changed. Correct the hints")
    }
}

internal import AppMigrationsSQLite

/// The differences between a schema and its target, the hints that matter, and the questions they leave open.
struct SchemaComparison {
    let start: SchemaSnapshot
    let target: SchemaSnapshot
    /// The tables that get another name.
    private(set) var renamedTables = [SchemaRenames.Rename]()
    /// The tables that both have and that differ, by the target's name.
    private(set) var tables = [TableChange]()
    /// The tables that the target does not have, or has under the same name as something else.
    private(set) var droppedTables = [SQLName]()
    private(set) var questions = [SchemaPlan.Question]()
    private(set) var gone = Set<SQLName>()

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
        let renames = try Self.renames(start, target, hints)
        renamedTables = renames.pending.map {
            (start[.table, $0]?.name ?? $0, target[.table, $1]?.name ?? $1)
        }
        let form = SchemaForm(start, target)
        for object in start.objects where object.kind == .table {
            let renamed = renames[object.name]
            let name = renamed ?? object.name
            guard let wanted = target[.table, name] else {
                droppedTables.append(object.name)
                if !renames.gone.contains(object.name), !hints.allowsDrop(of: object.name) {
                    questions.append(try question(whereGoes: object.name, from.db, to.db))
                }
                continue
            }
            let statements = (try object.statement(), try wanted.statement())
            if statements.0.kind == .table, statements.1.kind == .table, hints.allowsDrop(of: name) {
                throw Self.contradiction("The hints drop the table \(name), and the target has it")
            }
            if renamed == nil, form.areSame(object, wanted) { continue }
            if statements.0.kind == .virtualTable || statements.1.kind == .virtualTable {
                try replace(object, statements.0.kind, from.db)
                continue
            }
            var change = try TableChange(
                from: (object, TableShape(of: statements.0, in: "main", from.db)),
                to: (wanted, TableShape(of: statements.1, in: "main", to.db)),
                hints
            )
            try change.askWhereGone(try reads(of: &change, from.db), hints) { column throws(SQLError) in
                let sql = "SELECT count(\(column.quoted)) FROM main.\(object.name.quoted)"
                return try from.db.number(sql)
            }
            tables.append(change)
            questions += change.questions
            gone.formUnion(change.goneColumns)
        }
    }

    static func renames(
        _ start: SchemaSnapshot,
        _ target: SchemaSnapshot,
        _ hints: SchemaPlan.Hints
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

    /// The tables that the expressions of a change read, in the schema once its tables are renamed.
    private func reads(
        of change: inout TableChange,
        _ db: some SQLConnection
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
        func givesNone(_ answer: TableChange.Answer, without column: SQLName?, _ reads: ExpressionReads)
            throws(SQLError) -> Bool
        {
            // SQLite numbers the rows that a key has no value for.
            if answer.needed == nil || keys.contains(answer.column) { return false }
            return try probe.isNull(answer.expression, without: column, reads, db)
        }
        for var answer in change.answers {
            if answer.isOwnName {
                reads.formUnion(change.keep(answer))
                continue
            }
            let source = change.source(of: answer.column)?.name
            // A new column has no value of its own that it could keep.
            var mayBeEmpty = source != nil
            var found = try probe.answer(answer.expression, db)
            if case .complaint = found, let named = change.naming(answer),
                case .reads(let more) = try probe.answer(named.expression, db)
            {
                // Where nothing is asked, the hint is for a later release, and the new column gets its default.
                if answer.questions.isEmpty { continue }
                (answer, mayBeEmpty, found) = (named, true, .reads(more))
            }
            switch found {
            case .reads(let more):
                let isEmpty = mayBeEmpty ? try givesNone(answer, without: source, more) : false
                reads.formUnion(change.use(answer, reading: more, isEmpty: isEmpty))
            case .complaint(let complaint):
                let error = Self.contradiction(
                    "The value for the column \(answer.column) of the table \(change.new.name) \(complaint)"
                )
                guard let advice = error.registrationAdvice else { throw error }
                throw error.with { $0.message += ", or register what they need. \(advice)" }
            }
        }
        return reads
    }

    /// Refuses to rename what a full-text index draws on and names in its own text.
    func refuseBlindIndexes(_ db: some SQLConnection) throws(SQLError) {
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
            guard let found = try probe.virtualTable(readingAnyOf: Set(columns), but: droppedTables) else {
                continue
            }
            let name =
                isRenamed
                ? "table \(change.old.name)" : "column \(found.column) of the table \(change.old.name)"
            throw SQLError(
                .refusedSchemaChange,
                "The virtual table \(found.name) is filled from the \(name) and would not find it under another name."
                    + " Nothing was changed. Drop it in a migration before, and make and fill it again afterwards"
            )
        }
    }

    /// The tables that one which the target lacks may have become: first those new ones that have its columns.
    private func question(
        whereGoes table: SQLName,
        _ db: some SQLConnection,
        _ wanted: SQLiteConnection
    ) throws(SQLError) -> SchemaPlan.Question {
        func columns(of table: SQLName, _ db: some SQLConnection) throws(SQLError) -> Set<SQLName> {
            let sql = "SELECT name FROM pragma_table_info(\(SQLValue.text(table.text)))"
            return Set(try db.texts(sql).map { SQLName($0) })
        }
        var mine = Set<SQLName>()
        var rowCount: Int64?
        do throws(SQLError) {
            mine = try columns(of: table, db)
            rowCount = try db.number("SELECT count(*) FROM main.\(table.quoted)")
        } catch {
            // A virtual table may be damaged, or need a module that this connection lacks. It can be dropped all the same.
            if error.code == .cancelled || start[.table, table]?.isVirtual != true { throw error }
        }
        var (alike, others, copied) = ([SQLName](), [SQLName](), [SQLName]())
        let taken = Set(renamedTables.map(\.new))
        for object in target.objects where object.kind == .table && !taken.contains(object.name) {
            let theirs = try columns(of: object.name, wanted)
            let isCopy = table.text.hasPrefix("\(object.name.text)_") && !theirs.isDisjoint(with: mine)
            switch (isNew: start[.table, object.name] == nil, isAlike: isCopy || theirs == mine) {
            case (true, true): alike.append(object.name)
            case (true, false): others.append(object.name)
            case (false, let isAlike): if isAlike { copied.append(object.name) }
            }
        }
        var question = SchemaPlan.Question(.droppedTable, table, candidates: alike + others)
        if let object = start[.table, table], object.isVirtual {
            question.contentTables = try contentTables(of: object).map(\.text)
        }
        // The rows of an index are counted in its content table.
        if question.contentTables.isEmpty { question.rowCount = rowCount }
        question.alike = copied.map(\.text)
        return question
    }

    private mutating func replace(
        _ table: SchemaObject,
        _ kind: CreateStatement.Kind,
        _ db: some SQLConnection
    ) throws(SQLError) {
        droppedTables.append(table.name)
        if hints.allowsDrop(of: table.name) { return }
        var question = SchemaPlan.Question(kind == .virtualTable ? .replacedTable : .droppedTable, table.name)
        // A virtual table may need a module that this connection lacks.
        if kind == .virtualTable {
            question.contentTables = try contentTables(of: table).map(\.text)
            question.fillingTables = try fillingTables(of: table.name).map(\.text)
        } else {
            question.rowCount = try db.number("SELECT count(*) FROM main.\(table.name.quoted)")
        }
        questions.append(question)
    }

    /// The tables from which an index of the database is filled; none for a table with rows of its own.
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

    static func contradiction(_ message: String) -> SQLError {
        SQLError(.refusedSchemaChange, "\(message). Nothing was changed. Correct the hints")
    }
}

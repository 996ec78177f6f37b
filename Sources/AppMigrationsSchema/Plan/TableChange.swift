internal import AppMigrationsSQLite

/// How the columns of a table come to be those of the target.
struct TableChange {
    let old: TableShape
    let new: TableShape
    /// The statement that makes the new table.
    let createTable: String
    /// The columns that get another name and were not given a value.
    private(set) var renamed = [SchemaRenames.Rename]()
    /// The columns that would have got a name that may go.
    private var renamedAway = Set<SQLName>()
    /// The expressions of the hints that are used.
    private(set) var values = [(column: SQLName, expression: String)]()
    /// What they read.
    private(set) var reads = ExpressionReads()
    private(set) var questions = [SchemaPlan.Question]()

    /// The columns whose names the table does not have any more.
    var goneColumns: Set<SQLName> { Set(old.columns.map(\.name)).subtracting(new.columns.map(\.name)) }

    /// The columns that are new.
    var addedColumns: [SQLName] {
        new.columns.map(\.name).filter { source(of: $0) == nil }
    }

    init(
        from: (object: SchemaObject, shape: TableShape),
        to: (object: SchemaObject, shape: TableShape),
        _ hints: SchemaPlan.Hints
    ) throws(SQLError) {
        old = from.shape
        new = to.shape
        createTable = try to.object.statement().text(in: "main")
        try findRenamed(hints)
        for column in new.columns where !column.isGenerated {
            if hints.allowsDrop(of: column.name, in: new.name) {
                throw SchemaComparison.contradiction(
                    "The hints drop the column \(column.name) of the table \(new.name), and the target has it"
                )
            }
            ask(for: column, hints)
        }
    }

    /// Asks about the columns that nothing uses, once it is known what the expressions read.
    mutating func askWhereGone(_ reads: ExpressionReads, _ hints: SchemaPlan.Hints) {
        self.reads = reads
        for column in old.columns where !column.isGenerated && !reads.columns.contains(column.name) {
            askWhereGone(column, hints)
        }
        let gone = questions.filter { $0.kind == .droppedColumn }.compactMap { old[SQLName($0.column ?? "")] }
        for index in questions.indices where questions[index].kind == .missingValue {
            guard let column = new[SQLName(questions[index].column ?? "")] else { continue }
            questions[index].sources = gone.map { value(of: column, from: $0) }
        }
    }

    /// An expression that takes a new column's value from one that goes.
    private func value(of column: TableShape.Column, from source: TableShape.Column) -> String {
        let isComplete = source.isNotNull || source.name == old.rowIDAlias
        return (isComplete ? nil : new.filling(column, from: source.name)) ?? source.name.written
    }

    /// The old column whose values a new one keeps.
    func source(of column: SQLName) -> TableShape.Column? {
        if let rename = renamed.first(where: { $0.new == column }) { return old[rename.old] }
        return renamed.contains { $0.old == column } ? nil : old[column]
    }

    /// Leaves rows that have a value alone where a column becomes NOT NULL, unless its expression reads the column.
    ///
    /// The expression may be the one that filled the column when it was new, and people have changed values since.
    ///
    /// - Returns: The old column that is kept, `nil` where none is.
    mutating func keepValues(of column: SQLName, unlessIn read: Set<SQLName>) -> SQLName? {
        guard let source = source(of: column), !read.contains(source.name), let target = new[column],
            !new.canChange(source, of: old, into: target),
            let index = values.firstIndex(where: { $0.column == column })
        else { return nil }
        // The line end closes a comment that the expression may end with.
        values[index].expression = "coalesce(\(source.name.alwaysName), (\(values[index].expression)\n))"
        return source.name
    }

    private mutating func findRenamed(_ hints: SchemaPlan.Hints) throws(SQLError) {
        let renames = try SchemaRenames(
            hints.columns(of: new.name),
            from: { old[$0] != nil },
            to: { new[$0] != nil },
            mayGo: { hints.allowsDrop(of: $0, in: new.name) }
        ) { before, after, reason in
            SchemaComparison.contradiction(
                "The hints rename the column \(before) of the table \(new.name) to \(after), \(reason)"
            )
        }
        renamed = renames.pending
        renamedAway = renames.gone
    }

    private mutating func ask(for column: TableShape.Column, _ hints: SchemaPlan.Hints) {
        var kinds = [SchemaPlan.Question.Kind]()
        var example: String?
        let isKey = column.name == new.rowIDAlias
        if let source = source(of: column.name) {
            let wasEmpty = !source.isNotNull && source.name != old.rowIDAlias
            let isFilled = (column.isNotNull || isKey) && wasEmpty
            if isFilled { kinds.append(.emptyValues) }
            if new.canChange(source, of: old, into: column) { kinds.append(.convertedValues) }
            if kinds.isEmpty { return }
            example = isFilled ? new.filling(column, from: source.name) : source.name.written
        } else if column.isNotNull, !column.hasDefault, !isKey {
            kinds.append(.missingValue)
        }
        if let value = hints.value(of: column.name, in: new.name) {
            values.append((column.name, value))
        } else {
            questions += kinds.map { .init($0, new.name, column.name, example: example) }
        }
    }

    private mutating func askWhereGone(_ column: TableShape.Column, _ hints: SchemaPlan.Hints) {
        let name = column.name
        if renamed.contains(where: { $0.old == name }) || renamedAway.contains(name) { return }
        if hints.allowsDrop(of: name, in: new.name) { return }
        if let other = new[name] {
            if other.isGenerated { questions.append(.init(.generatedColumn, new.name, name)) }
            return
        }
        let candidates = new.columns.filter { !$0.isGenerated && source(of: $0.name) == nil }
        questions.append(.init(.droppedColumn, new.name, name, candidates: candidates.map(\.name)))
    }

    /// The rebuild that makes the change, once columns that `done` names have been renamed.
    func rebuild(done: Set<SQLName>) -> TableRebuild {
        var expressions = [String: String]()
        for (before, after) in renamed where !done.contains(before) {
            expressions[after.text] = before.alwaysName
        }
        for (column, expression) in values { expressions[column.text] = expression }
        let dropping = old.columns.map(\.name).filter { name in
            !done.contains(name) && (new[name].map { $0.isGenerated } ?? true)
        }
        let fresh = renamed.map(\.old).filter { !done.contains($0) && source(of: $0) == nil }
        return TableRebuild(
            new.name,
            as: createTable,
            values: expressions,
            dropping: dropping.map(\.text),
            fresh: Set(fresh)
        )
    }
}

/// How the columns of a table come to be those of the target.
struct TableChange {
    let old: TableShape
    let new: TableShape
    /// The statement that makes the new table.
    let createTable: String
    /// The columns that get another name and were not given a value.
    private(set) var renamed = [(old: SQLName, new: SQLName)]()
    /// The expressions of the hints that are used.
    private(set) var values = [(column: SQLName, expression: String)]()
    private(set) var questions = [SchemaPlan.Question]()

    /// The columns whose names the table does not have any more.
    var goneColumns: Set<SQLName> { Set(old.columns.map(\.name)).subtracting(new.columns.map(\.name)) }

    /// The columns that come anew.
    var addedColumns: [SQLName] {
        new.columns.map(\.name).filter { name in
            old[name] == nil && !renamed.contains { $0.new == name }
        }
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
        for column in new.columns where !column.isGenerated { ask(for: column, hints) }
        for column in old.columns where !column.isGenerated { askWhereGone(column, hints) }
    }

    /// The old column whose values a new one keeps.
    func source(of column: SQLName) -> TableShape.Column? {
        if let rename = renamed.first(where: { $0.new == column }) { return old[rename.old] }
        return old[column]
    }

    private mutating func findRenamed(_ hints: SchemaPlan.Hints) throws(SQLError) {
        let asked = hints.columns(of: new.name)
        for (before, next) in asked where old[before] != nil {
            let after = SchemaPlan.Hints.last(of: next, in: asked) { new[$0] != nil }
            if asked.contains(where: { $0.old == next && $0.new == before }) {
                // Nothing would tell that it has been done.
                throw contradiction(before, next, "and the other way round; exchange them in a migration")
            }
            // Renamed already, and another column came under the old name since.
            guard old[after] == nil else { continue }
            if new[after] == nil { throw contradiction(before, after, "which the target does not have") }
            if new[before] != nil { throw contradiction(before, after, "and the target has both") }
            renamed.append((before, after))
        }
    }

    private func contradiction(_ before: SQLName, _ after: SQLName, _ reason: String) -> SQLError {
        SchemaComparison.contradiction(
            "The hints rename the column \(before) of the table \(new.name) to \(after), \(reason)"
        )
    }

    private mutating func ask(for column: TableShape.Column, _ hints: SchemaPlan.Hints) {
        let kind: SchemaPlan.Question.Kind?
        let isKey = column.name == new.rowIDAlias
        if let source = source(of: column.name) {
            let wasEmpty = !source.isNotNull && source.name != old.rowIDAlias
            if column.isNotNull || isKey, wasEmpty {
                kind = .emptyValues
            } else if new.canChange(source, of: old, into: column) {
                kind = .convertedValues
            } else {
                return
            }
        } else {
            kind = column.isNotNull && !column.hasDefault && !isKey ? .missingValue : nil
        }
        if let value = hints.value(of: column.name, in: new.name) {
            values.append((column.name, value))
        } else if let kind {
            questions.append(.init(kind, new.name, column.name))
        }
    }

    private mutating func askWhereGone(_ column: TableShape.Column, _ hints: SchemaPlan.Hints) {
        let name = column.name
        if renamed.contains(where: { $0.old == name }) || isUsed(name) { return }
        if hints.allowsDrop(of: name, in: new.name) { return }
        if let other = new[name] {
            if other.isGenerated { questions.append(.init(.generatedColumn, new.name, name)) }
            return
        }
        let candidates = new.columns.filter { !$0.isGenerated && source(of: $0.name) == nil }
        questions.append(.init(.droppedColumn, new.name, name, candidates: candidates.map(\.name)))
    }

    private func isUsed(_ column: SQLName) -> Bool {
        values.contains { SQLTokens($0.expression).columns(of: [old.name, new.name]).contains(column) }
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
        return TableRebuild(
            new.name.text,
            as: createTable,
            values: expressions,
            dropping: dropping.map(\.text)
        )
    }
}

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
    /// The expressions of the hints for columns that are new or change, before it is known what they read.
    private(set) var answers = [Answer]()
    /// The expressions that are used.
    private(set) var values = [(column: SQLName, expression: String)]()
    /// The tables that they read.
    private(set) var reads = ExpressionReads()
    private(set) var questions = [SchemaPlan.Question]()

    /// A hint for a column, and what would be asked without it.
    struct Answer {
        let column: SQLName
        /// The hint as it is written.
        let hint: String
        /// The hint in terms of names that the table has.
        var expression: String
        let questions: [SchemaPlan.Question]

        /// True if the hint is the column's own name, which means that its values are kept: a row that can't keep its value is
        /// an error when the plan is applied.
        var isOwnName = false

        /// The question that only an expression answers which has a value for every row.
        var needed: SchemaPlan.Question? {
            questions.first { $0.kind == .emptyValues || $0.kind == .missingValue }
        }
    }

    /// The columns whose names the table does not have any more.
    var goneColumns: Set<SQLName> { old.names.subtracting(new.names) }

    /// The columns that are new.
    var addedColumns: [SQLName] { new.columns.map(\.name).filter { source(of: $0) == nil } }

    init(
        from: (object: SchemaObject, shape: TableShape),
        to: (object: SchemaObject, shape: TableShape),
        _ hints: SchemaPlan.Hints
    ) throws(SQLError) {
        old = from.shape
        new = to.shape
        createTable = try to.object.statement().text(in: "main")
        let renames = try SchemaRenames(
            hints.columns(of: new.name),
            from: { from.shape[$0] != nil },
            to: { to.shape[$0] != nil },
            mayGo: { hints.allowsDrop(of: $0, in: to.shape.name) }
        ) { before, after, reason in
            SchemaComparison.contradiction(
                "The hints rename the column \(before) of the table \(to.shape.name) to \(after), \(reason)"
            )
        }
        (renamed, renamedAway) = (renames.pending, renames.gone)
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
    mutating func askWhereGone(
        _ reads: ExpressionReads,
        _ hints: SchemaPlan.Hints,
        values: (SQLName) throws(SQLError) -> Int64
    ) throws(SQLError) {
        self.reads = reads
        for column in old.columns where !column.isGenerated && !reads.columns.contains(column.name) {
            guard var question = whereGone(column, hints) else { continue }
            question.rowCount = try values(column.name)
            questions.append(question)
        }
    }

    /// The old column whose values a new one keeps.
    func source(of column: SQLName) -> TableShape.Column? {
        if let rename = renamed.first(where: { $0.new == column }) { return old[rename.old] }
        return renamed.contains { $0.old == column } ? nil : old[column]
    }

    /// Keeps the values of a column whose hint is its own name.
    ///
    /// - Returns: The column that is read, if its values are converted.
    mutating func keep(_ answer: Answer) -> ExpressionReads {
        guard let source = source(of: answer.column),
            answer.questions.contains(where: { $0.kind == .convertedValues })
        else { return ExpressionReads() }
        values.append((answer.column, source.name.alwaysName))
        return ExpressionReads(columns: [source.name])
    }

    /// Uses the hint for a column, whose expression reads `reads`.
    ///
    /// It may be the one that filled the column when it was new, and people have changed values since. So an expression that
    /// doesn't read the column gives a value to the rows without one, and says nothing about a conversion. It may also be one
    /// that only said how values are converted, and gives rows without a value none.
    ///
    /// - Returns: The columns that the used ones read.
    mutating func use(_ answer: Answer, reading reads: ExpressionReads, isEmpty: Bool) -> ExpressionReads {
        if isEmpty, let needed = answer.needed, let column = new[answer.column] {
            let tokens = SQLTokens(answer.hint)
            // A comment at its end would swallow what follows.
            let end = tokens.tokens.last?.range.upperBound ?? 0
            let example = new.filling(column, from: tokens.text(in: 0..<end))
            questions.append(needed.refusing(answer.hint, example: example))
            return reads
        }
        guard let source = source(of: answer.column), !reads.columns.contains(source.name) else {
            values.append((answer.column, answer.expression))
            return reads
        }
        if let converted = answer.questions.first(where: { $0.kind == .convertedValues }) {
            questions.append(converted.refusing(answer.hint))
            return ExpressionReads()
        }
        // The line end closes a comment that the expression may end with.
        values.append((answer.column, "coalesce(\(source.name.alwaysName), (\(answer.expression)\n))"))
        var kept = reads
        kept.columns.insert(source.name)
        return kept
    }

    /// The hint for a column with the names that the target has and the table doesn't have yet, for an expression that was written
    /// for a later release: that of a renamed column, and its own, which is NULL; `nil` where there are none.
    func naming(_ answer: Answer) -> Answer? {
        var names = renamed.filter { old[$0.new] == nil }.map {
            "\(new.name.quoted).\($0.old.quoted) AS \($0.new.quoted)"
        }
        if old[answer.column] == nil, source(of: answer.column) == nil {
            names.append("NULL AS \(answer.column.quoted)")
        }
        if names.isEmpty { return nil }
        let row = "(SELECT \(names.joined(separator: ", "))) AS \(new.name.quoted)"
        var named = answer
        named.expression = "(SELECT \(answer.expression)\n FROM \(row))"
        return named
    }

    private mutating func ask(for column: TableShape.Column, _ hints: SchemaPlan.Hints) {
        var kinds = [SchemaPlan.Question.Kind]()
        var example: String?
        var keepsValues = false
        let isKey = column.name == new.rowIDAlias
        if let source = source(of: column.name) {
            let wasEmpty = !source.isNotNull && source.name != old.rowIDAlias
            let isFilled = (column.isNotNull || isKey) && wasEmpty
            if isFilled { kinds.append(.emptyValues) }
            if new.canChange(source, of: old, into: column) { kinds.append(.convertedValues) }
            if kinds.isEmpty { return }
            // Where it is a new column for an older release, that one has no value for it either.
            let isNeeded = isFilled || column.isNotNull && !column.hasDefault
            let filling = isNeeded ? new.filling(column, from: source.name.written) : nil
            keepsValues = filling == nil && !isKey
            // SQLite numbers the rows that a key has no value for.
            example = filling ?? (isKey && isFilled ? nil : source.name.written)
        } else if column.isNotNull, !column.hasDefault, !isKey {
            kinds.append(.missingValue)
        }
        let asked = kinds.map { kind in
            var question = SchemaPlan.Question(kind, new.name, column.name, example: example)
            question.keepsValues = keepsValues && kind == .emptyValues
            return question
        }
        if let value = hints.value(of: column.name, in: new.name) {
            var answer = Answer(column: column.name, hint: value, expression: value, questions: asked)
            answer.isOwnName = !isKey && isOwnName(value, of: column.name)
            answers.append(answer)
        } else {
            questions += asked
        }
    }

    /// True if an expression is nothing but the name of a column that has values: the name that it has in the table or, if that
    /// is renamed, in the target.
    private func isOwnName(_ expression: String, of column: SQLName) -> Bool {
        guard let source = source(of: column)?.name else { return false }
        let tokens = SQLTokens(expression)
        let place = tokens.tokens.count - 1
        let isQualified = place == 2 && tokens.name(0) == new.name && tokens.isSign(1, ".")
        guard place == 0 || isQualified, tokens.tokens[place].kind != .text,
            let name = tokens.name(place)
        else { return false }
        return name == source || name == column && old[column] == nil
    }

    private func whereGone(_ column: TableShape.Column, _ hints: SchemaPlan.Hints) -> SchemaPlan.Question? {
        let name = column.name
        if renamed.contains(where: { $0.old == name }) || renamedAway.contains(name) { return nil }
        if hints.allowsDrop(of: name, in: new.name) { return nil }
        if let other = new[name] { return other.isGenerated ? .init(.generatedColumn, new.name, name) : nil }
        let candidates = new.columns.filter { !$0.isGenerated && source(of: $0.name) == nil }
        return .init(.droppedColumn, new.name, name, candidates: candidates.map(\.name))
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
        var rebuild = TableRebuild(
            new.name.text,
            as: createTable,
            values: expressions,
            dropping: dropping.map(\.text)
        )
        let fresh = renamed.map(\.old).filter { !done.contains($0) && source(of: $0) == nil }
        rebuild.fresh = Set(fresh)
        return rebuild
    }
}

internal import AppMigrationsSQLite

/// The differences between the old and the new shape of a table that exists in both schemas.
///
/// It also says where each column of the new table gets its values: from an old column, from an expression
/// or from its default.
struct TableChange {
    let old: TableShape
    let new: TableShape
    /// The statement that makes the new table.
    let createTable: String
    /// The columns to rename.
    private(set) var renamed = [SchemaRenames.Rename]()
    /// The old columns whose rename hints lead to a name that the hints allow to drop.
    private var droppedByRename = Set<SQLName>()
    /// The value hints for new and changed columns.
    ///
    /// Their expressions haven't been analyzed yet.
    private(set) var valueHints = [ValueHint]()
    /// The expressions that are used for columns of the new table.
    private(set) var values = [(column: SQLName, expression: String)]()
    /// The columns and tables that these expressions read.
    private(set) var reads = ExpressionReads()
    private(set) var questions = [SchemaPlan.Question]()

    /// The hint for a column, and the questions that it has to answer.
    struct ValueHint {
        let column: SQLName
        /// The hint as the app wrote it.
        let text: String
        /// The hint's expression, with names that exist in the database.
        var expression: String
        let questions: [SchemaPlan.Question]

        /// True if the hint is just the column's own name.
        ///
        /// Such a hint keeps the values. The plan fails if a row can't keep its value.
        var isOwnName = false

        /// The question, if there is one, that only an expression without NULL results can answer.
        var questionAboutNulls: SchemaPlan.Question? {
            questions.first { $0.kind == .emptyValues || $0.kind == .missingValue }
        }
    }

    /// The names that no column of the new table has, because the column is dropped or renamed.
    var removedColumnNames: Set<SQLName> { old.names.subtracting(new.names) }

    /// The columns that are new.
    var addedColumns: [SQLName] { new.columns.map(\.name).filter { source(of: $0) == nil } }

    init(
        from: (object: SchemaObject, shape: TableShape),
        to: (object: SchemaObject, shape: TableShape),
        hints: SchemaPlan.Hints
    ) throws(SQLError) {
        old = from.shape
        new = to.shape
        createTable = try to.object.statement().text(in: "main")
        let renames = try SchemaRenames(
            hints.columnRenames(of: new.name),
            from: { from.shape[$0] != nil },
            to: { to.shape[$0] != nil },
            mayDrop: { hints.allowsDrop(of: $0, in: to.shape.name) }
        ) { before, after, reason in
            SchemaComparison.contradiction(
                "The hints rename the column \(before) of the table \(to.shape.name) to \(after), \(reason)"
            )
        }
        renamed = renames.pending
        droppedByRename = renames.droppedNames
        for column in new.columns where !column.isGenerated {
            if hints.allowsDrop(of: column.name, in: new.name) {
                throw SchemaComparison.contradiction(
                    "The hints drop the column \(column.name) of the table \(new.name), and the target has it"
                )
            }
            ask(about: column, hints: hints)
        }
    }

    /// Asks about the old columns that neither the new table nor an expression uses.
    ///
    /// `reads` are the columns and tables that the expressions for this table read. `countValues` returns the
    /// number of rows with a value in a column.
    mutating func askAboutUnusedColumns(
        reads: ExpressionReads,
        hints: SchemaPlan.Hints,
        countValues: (SQLName) throws(SQLError) -> Int64
    ) throws(SQLError) {
        self.reads = reads
        for column in old.columns where !column.isGenerated && !reads.columns.contains(column.name) {
            guard var question = question(aboutUnused: column, hints: hints) else { continue }
            question.rowCount = try countValues(column.name)
            questions.append(question)
        }
    }

    /// The old column whose values a column of the new table keeps; `nil` for a new column.
    func source(of column: SQLName) -> TableShape.Column? {
        if let rename = renamed.first(where: { $0.new == column }) { return old[rename.old] }
        return renamed.contains { $0.old == column } ? nil : old[column]
    }

    /// Keeps the values of a column whose hint is just the column's own name.
    ///
    /// - Returns: The old column if its values are converted; no column otherwise.
    mutating func keep(_ hint: ValueHint) -> ExpressionReads {
        guard let source = source(of: hint.column),
            hint.questions.contains(where: { $0.kind == .convertedValues })
        else { return ExpressionReads() }
        values.append((hint.column, source.name.inBackticks))
        return ExpressionReads(columns: [source.name])
    }

    /// Uses a value hint if it answers its questions, and asks again otherwise.
    ///
    /// The hint may come from an earlier release that added the column, and users may have changed the values
    /// since. So an expression that doesn't read the column is used only for rows in which the column is
    /// NULL, and can't answer a question about a conversion. An expression that only converts values is NULL
    /// if the column is NULL, so it can't answer a question about `NOT NULL`.
    ///
    /// - Parameters:
    ///   - hint: The hint and its questions.
    ///   - reads: The columns and tables that the hint's expression reads.
    ///   - isNull: True if the expression is NULL for a row in which the column is NULL.
    /// - Returns: The columns and tables that the plan's own expression reads.
    mutating func use(_ hint: ValueHint, reading reads: ExpressionReads, isNull: Bool) -> ExpressionReads {
        if isNull, let question = hint.questionAboutNulls, let column = new[hint.column] {
            let tokens = SQLTokens(hint.text)
            // Cut off a comment at the end, which would comment out the rest of the example.
            let end = tokens.tokens.last?.range.upperBound ?? 0
            let example = new.nonNullExpression(for: column, from: tokens.text(in: 0..<end))
            questions.append(question.refusing(hint.text, example: example))
            return reads
        }
        guard let source = source(of: hint.column), !reads.columns.contains(source.name) else {
            values.append((hint.column, hint.expression))
            return reads
        }
        if let converted = hint.questions.first(where: { $0.kind == .convertedValues }) {
            questions.append(converted.refusing(hint.text))
            return ExpressionReads()
        }
        // The line end closes a comment that the expression may end with.
        values.append((hint.column, "coalesce(\(source.name.inBackticks), (\(hint.expression)\n))"))
        var kept = reads
        kept.columns.insert(source.name)
        return kept
    }

    /// Changes a hint so that its expression can use names that only the target has.
    ///
    /// An expression that was written for databases of a later release uses such names. It is put into a
    /// query whose subquery provides the new names of renamed columns, and NULL for the column itself if it
    /// is new.
    ///
    /// - Returns: The changed hint; `nil` if the target has no such names.
    func usingTargetNames(_ hint: ValueHint) -> ValueHint? {
        var names = renamed.filter { old[$0.new] == nil }.map {
            "\(new.name.quoted).\($0.old.quoted) AS \($0.new.quoted)"
        }
        if old[hint.column] == nil, source(of: hint.column) == nil {
            names.append("NULL AS \(hint.column.quoted)")
        }
        if names.isEmpty { return nil }
        let row = "(SELECT \(names.joined(separator: ", "))) AS \(new.name.quoted)"
        var named = hint
        named.expression = "(SELECT \(hint.expression)\n FROM \(row))"
        return named
    }

    /// Finds the questions that a column of the new table raises.
    ///
    /// If there is a hint for the column, the questions are kept with it, until its expression is examined.
    /// Otherwise they are open.
    private mutating func ask(about column: TableShape.Column, hints: SchemaPlan.Hints) {
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
            // The hint is also used for databases of older releases. In a database that lacks this column,
            // the rows have no value for it, so the example has to provide one.
            let isNeeded = isFilled || column.isNotNull && !column.hasDefault
            let name = source.name.quotedIfNeeded
            let nonNull = isNeeded ? new.nonNullExpression(for: column, from: name) : nil
            keepsValues = nonNull == nil && !isKey
            // SQLite gives a number to a row without a value for its INTEGER PRIMARY KEY, so no example is
            // needed.
            example = nonNull ?? (isKey && isFilled ? nil : name)
        } else if column.isNotNull, !column.hasDefault, !isKey {
            kinds.append(.missingValue)
        }
        let asked = kinds.map { kind in
            var question = SchemaPlan.Question(kind, table: new.name, column: column.name, example: example)
            question.keepsValues = keepsValues && kind == .emptyValues
            return question
        }
        if let value = hints.value(of: column.name, in: new.name) {
            var hint = ValueHint(column: column.name, text: value, expression: value, questions: asked)
            hint.isOwnName = !isKey && isOwnName(value, of: column.name)
            valueHints.append(hint)
        } else {
            questions += asked
        }
    }

    /// True if an expression is only the name of a column that exists in the database.
    ///
    /// The table's name may precede it. For a renamed column, the old and the new name mean the same.
    private func isOwnName(_ expression: String, of column: SQLName) -> Bool {
        guard let source = source(of: column)?.name else { return false }
        let tokens = SQLTokens(expression)
        let last = tokens.tokens.count - 1
        let isQualified = last == 2 && tokens.name(0) == new.name && tokens.isSign(1, ".")
        guard last == 0 || isQualified, tokens.tokens[last].kind != .text,
            let name = tokens.name(last)
        else { return false }
        return name == source || name == column && old[column] == nil
    }

    /// The question whether an unused column is renamed or dropped; `nil` if the hints answer it.
    private func question(
        aboutUnused column: TableShape.Column,
        hints: SchemaPlan.Hints
    ) -> SchemaPlan.Question? {
        let name = column.name
        if renamed.contains(where: { $0.old == name }) || droppedByRename.contains(name) { return nil }
        if hints.allowsDrop(of: name, in: new.name) { return nil }
        if let other = new[name] {
            return other.isGenerated ? .init(.generatedColumn, table: new.name, column: name) : nil
        }
        let candidates = new.columns.filter { !$0.isGenerated && source(of: $0.name) == nil }
        return .init(.droppedColumn, table: new.name, column: name, candidates: candidates.map(\.name))
    }

    /// The rebuild that makes the change, after earlier steps have renamed some columns with ALTER TABLE.
    ///
    /// `done` contains the old names of these columns.
    func rebuild(afterRenaming done: Set<SQLName>) -> TableRebuild {
        var expressions = [String: String]()
        for (before, after) in renamed where !done.contains(before) {
            expressions[after.text] = before.inBackticks
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
        let reused = renamed.map(\.old).filter { !done.contains($0) && source(of: $0) == nil }
        rebuild.reusedNames = Set(reused)
        return rebuild
    }
}

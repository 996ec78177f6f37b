/// What differs between a schema and its target, the hints that matter, and the questions they leave open.
struct SchemaComparison {
    let start: SchemaSnapshot
    let target: SchemaSnapshot
    /// The tables that get another name.
    private(set) var renamedTables = [(old: SQLName, new: SQLName)]()
    /// The tables that both have and that differ, by the target's name.
    private(set) var tables = [TableChange]()
    /// The tables that the target does not have, or has under the same name as something else.
    private(set) var droppedTables = [SQLName]()
    private(set) var questions = [SchemaPlan.Question]()
    private(set) var gone = Set<SQLName>()

    private let hints: SchemaPlan.Hints

    init(
        from: (db: some SQLConnection, schema: SchemaSnapshot),
        to: (db: SQLiteConnection, schema: SchemaSnapshot),
        _ hints: SchemaPlan.Hints
    ) throws(SQLError) {
        self.hints = hints
        start = from.schema
        target = to.schema
        try findRenamedTables()
        let form = SchemaForm(start, target)
        for object in start.objects where object.kind == .table {
            let renamed = renamedTables.first { $0.old == object.name }?.new
            let name = renamed ?? object.name
            guard let wanted = target[.table, name] else {
                drop(object)
                continue
            }
            if renamed == nil, form.areSame(object, wanted) { continue }
            let statements = (try object.statement(), try wanted.statement())
            if statements.0.kind == .virtualTable || statements.1.kind == .virtualTable {
                replace(object, by: wanted, statements.0.kind)
                continue
            }
            let change = try TableChange(
                from: (object, TableShape(of: statements.0, in: "main", from.db)),
                to: (wanted, TableShape(of: statements.1, in: "main", to.db)),
                hints
            )
            tables.append(change)
            questions += change.questions
            gone.formUnion(change.goneColumns)
        }
    }

    private mutating func findRenamedTables() throws(SQLError) {
        let asked = hints.renamedTables.map { (old: SQLName($0.key), new: SQLName($0.value)) }
            .sorted { $0.old.text < $1.old.text }
        for (old, next) in asked {
            let new = SchemaPlan.Hints.last(of: next, in: asked) { target[.table, $0] != nil }
            // Renamed already, or a database that never had it.
            guard let before = start[.table, old], start[.table, new] == nil else { continue }
            guard let after = target[.table, new] else {
                throw Self.contradiction(
                    "The hints rename the table \(old) to \(new), which the target does not have"
                )
            }
            if target[.table, old] != nil {
                throw Self.contradiction(
                    "The hints rename the table \(old) to \(new), and the target has both"
                )
            }
            renamedTables.append((before.name, after.name))
        }
    }

    private mutating func drop(_ table: SchemaObject) {
        droppedTables.append(table.name)
        if hints.allowsDrop(of: table.name) { return }
        let taken = Set(renamedTables.map(\.new))
        let candidates = target.objects.filter {
            $0.kind == .table && start[.table, $0.name] == nil && !taken.contains($0.name)
        }
        questions.append(.init(.droppedTable, table.name, candidates: candidates.map(\.name)))
    }

    private mutating func replace(
        _ table: SchemaObject,
        by wanted: SchemaObject,
        _ kind: CreateStatement.Kind
    ) {
        droppedTables.append(table.name)
        if hints.allowsDrop(of: table.name) { return }
        questions.append(.init(kind == .virtualTable ? .replacedTable : .droppedTable, table.name))
    }

    static func contradiction(_ message: String) -> SQLError {
        SQLError(.refusedSchemaChange, "\(message). Nothing was changed. Correct the hints")
    }
}

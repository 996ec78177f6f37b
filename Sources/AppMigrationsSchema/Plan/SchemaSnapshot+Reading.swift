internal import AppMigrationsSQLite

extension SchemaSnapshot {
    /// The schema that a script would make, where it is nothing but `CREATE` statements; `nil` where it has
    /// to be run to know.
    ///
    /// Running 600 statements takes SQLite some 30 ms, which is too long for a start that has nothing to do.
    init?(reading script: String) {
        var objects = [SchemaObject]()
        for text in Self.statements(of: script) {
            guard let statement = CreateStatement(text), !statement.isTemporary,
                statement.schema.map({ $0 == SQLName("main") }) ?? true
            else { return nil }
            let kind: SchemaObject.Kind =
                switch statement.kind {
                case .table, .virtualTable: .table
                case .index: .index
                case .view: .view
                case .trigger: .trigger
                }
            let name = statement.name
            // As SQLite stores it: from the name on.
            let object = SchemaObject(
                kind: kind,
                name: name,
                table: name,
                sql: statement.stored,
                schema: "main"
            )
            objects.append(object)
        }
        self.init(objects)
    }

    /// The statements of a script, as SQLite tells them apart ("sqlite3_complete"): a trigger ends with
    /// a semicolon, `END` and a semicolon.
    private static func statements(of script: String) -> [String] {
        let tokens = SQLTokens(script)
        var statements = [String]()
        var start = 0
        var isTrigger = false
        for index in tokens.tokens.indices {
            if index > start, index <= start + 2, tokens.isWord(index, "TRIGGER") { isTrigger = true }
            let isLast = index == tokens.tokens.count - 1
            let isSemicolon = tokens.isSign(index, ";")
            let isInside =
                isTrigger && !(index >= 2 && tokens.isWord(index - 1, "END") && tokens.isSign(index - 2, ";"))
            guard isLast || isSemicolon && !isInside else { continue }
            let end = isSemicolon ? index : index + 1
            if end > start {
                let (first, last) = (tokens.tokens[start].range, tokens.tokens[end - 1].range)
                statements.append(tokens.text(in: first.lowerBound..<last.upperBound))
            }
            start = index + 1
            isTrigger = false
        }
        return statements
    }

    /// Whether both have the same objects, in any order and however they are written.
    func isSame(as other: SchemaSnapshot) -> Bool {
        objects.count == other.objects.count && difference(from: other) == nil
    }
}

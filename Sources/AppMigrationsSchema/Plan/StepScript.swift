internal import AppMigrationsSQLite

/// Finds the SQL of a plan's steps with a dry run in a copy of the schema, which has no rows.
struct StepScript {
    private var copy: SchemaCopy
    /// The reason why the copy no longer has the schema that the database would have.
    private var failure: SQLError?

    init(of schema: SchemaSnapshot, preparing preparation: ConnectionPreparation) throws(SQLError) {
        copy = try SchemaCopy(preparing: preparation)
        try copy.make([.table, .view, .index, .trigger], of: schema.objects)
        // `apply` runs the steps with this setting, too.
        copy.db.setLegacyRenaming(true)
        failure = copy.obstacle
    }

    /// The SQL of a step that rebuilds no table.
    static func sql(withoutRebuild step: SchemaPlan.Step) -> String {
        script(of: step.action.statements ?? [])
    }

    /// Runs a step in the copy, and returns its SQL.
    mutating func sql(
        of step: SchemaPlan.Step,
        preparing preparation: ConnectionPreparation
    ) throws(SQLError) -> String {
        if failure == nil {
            do throws(SQLError) { return try run(step, preparing: preparation) } catch {
                // Don't throw. If the step itself is wrong, `apply` reports it. It can also fail only here,
                // because the copy lacks something that the app's connection has, such as a function.
                if error.code == .cancelled { throw error }
                failure = error
            }
        }
        if let sql = step.action.statements { return Self.script(of: sql) }
        let reason = failure.map { "\($0.message). \($0.registrationAdvice ?? "")" } ?? ""
        return Self.comment("\(step): this can't be shown as SQL: \(reason)")
    }

    private func run(_ step: SchemaPlan.Step, preparing preparation: ConnectionPreparation) throws(SQLError)
        -> String
    {
        let db = copy.db
        guard case .rebuild(let rebuild) = step.action else {
            try step.run(db, preparing: preparation)
            return Self.script(of: step.action.statements ?? [])
        }
        let work = try TableCopy(for: rebuild, on: db, preparing: preparation)
        let stash = SchemaObject.unusedName(among: try SchemaObject.all(of: db))
        let isMovedAside = try db.inRolledBackSavepoint { () throws(SQLError) in
            try work.moveAside(to: stash, on: db)
        }
        let statements = try work.statements(stash: stash, isMovedAside: isMovedAside)
        try work.run(db)
        return Self.script(of: statements)
    }

    /// The statements, each with a semicolon and a line end.
    private static func script(of statements: [String]) -> String {
        statements.map { statement in
            let tokens = SQLTokens(statement)
            let end = tokens.tokens.last?.range.upperBound ?? 0
            // A comment at the end would swallow the semicolon.
            return "\(statement)\(end < tokens.count ? "\n" : "");\n"
        }.joined()
    }

    /// A text as one comment.
    static func comment(_ text: String) -> String {
        "-- \(text.split(whereSeparator: \.isNewline).joined(separator: " "))\n"
    }
}

extension SchemaPlan.Step.Action {
    /// The statements for a shell, where `legacy_alter_table` is off; `nil` for a rebuild.
    fileprivate var statements: [String]? {
        switch self {
        case .statement(let sql), .renaming(let sql): [sql]
        case .renamingAlone(let sql): SchemaTransaction.legacyRenamingScript(sql)
        case .rebuild: nil
        }
    }
}

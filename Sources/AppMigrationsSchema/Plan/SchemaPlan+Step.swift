internal import AppMigrationsSQLite

extension SchemaPlan {
    /// A change that a plan makes.
    public struct Step: Sendable, CustomStringConvertible {
        /// What is done and to what, in words: `rebuild the table notes`.
        public let description: String

        let action: Action

        enum Action {
            case statement(String)
            /// An ALTER that also rewrites what refers to the renamed table or column.
            case renaming(String)
            case rebuild(TableRebuild)
        }

        init(_ description: String, _ action: Action) {
            self.description = description
            self.action = action
        }
    }
}

extension SchemaPlan.Step {
    /// Whether the table's rows are copied, which takes a time that grows with them.
    public var isRebuild: Bool {
        if case .rebuild = action { true } else { false }
    }

    /// Runs the step in a transaction with foreign keys off and `legacy_alter_table` on.
    func run(_ db: some SQLConnection) throws(SQLError) {
        switch action {
        case .statement(let sql): try db.rows(sql)
        case .renaming(let sql):
            try SchemaTransaction.setLegacyRenaming(false, on: db)
            try db.rows(sql)
            try SchemaTransaction.setLegacyRenaming(true, on: db)
        case .rebuild(let rebuild):
            do throws(SQLError) {
                try TableCopy(rebuild, db).run(db)
            } catch {
                throw rebuild.located(error)
            }
        }
    }
}

public import AppMigrationsSQLite

/// The steps that give a database the schema of an app, found by comparing the two.
///
/// The target is the SQL that makes the schema in an empty database. A plan never guesses whether a change
/// may lose or alter your users' data. It asks, with all ``questions`` at once, and does nothing while one is
/// open. ``Hints`` answer them.
///
/// Two statements are the same if they differ only in blanks, comments, quotes and the case of keywords. If a
/// table differs, its new columns are added if SQLite can do that, and otherwise the table is rebuilt.
///
/// The guide <doc:LettingTheSchemaBeInferred> shows how.
public struct SchemaPlan: Sendable {
    /// The steps, in order; empty when the database has the target's schema, or questions are open.
    public let steps: [Step]

    /// The decisions that you have to make; empty when ``apply(_:progress:)`` can run.
    public let questions: [Question]

    /// The schema that the plan was made for.
    let start: SchemaSnapshot
    let target: SchemaSnapshot
    /// The names of the columns that the target's tables don't have any more.
    let gone: Set<SQLName>
    private let preparation: ConnectionPreparation

    /// Compares a database with a schema, and changes nothing.
    ///
    /// The target is run in a private database in memory. If the schema needs functions, collations,
    /// tokenizers or modules of your app, register them there as on your own connection.
    ///
    /// The tables of this library's ledgers, SQLite's own and those of virtual tables are left alone unless
    /// the target makes them.
    ///
    /// - Parameters:
    ///   - db: A connection to SQLite: an `SQLiteConnection`, or one of another library that conforms to
    ///     `SQLConnection`.
    ///   - targetSQL: Statements that make the whole schema in an empty database.
    ///   - hints: The answers to questions, also to those of a database that has been changed already.
    ///   - prepare: Called with the `sqlite3 *` of each private connection that the plan opens, before a
    ///     schema is read or made there. ``apply(_:progress:)`` opens some, too. It must not keep the
    ///     pointer. `db` is your own connection, and is not passed to it.
    /// - Throws: `SQLError`: what SQLite says of the target, with line and column;
    ///   `SQLError.Code.refusedSchemaChange` for hints that contradict the target, and for an error of
    ///   `prepare`.
    public init(
        from db: some SQLConnection,
        to targetSQL: String,
        hints: Hints = Hints(),
        preparing prepare: @escaping @Sendable (OpaquePointer) throws -> Void = { _ in }
    ) throws(SQLError) {
        try self.init(from: db, to: targetSQL, hints: hints, preparation: ConnectionPreparation(prepare))
    }

    init(
        from db: some SQLConnection,
        to targetSQL: String,
        hints: Hints,
        preparation: ConnectionPreparation
    ) throws(SQLError) {
        self.preparation = preparation
        let wanted: SQLiteConnection
        (target, wanted) = try SchemaSnapshot.made(by: targetSQL, preparing: preparation)
        start = try SchemaSnapshot(of: db, preparing: preparation).leavingAlone(what: target)
        // Hints that contradict one another are an error also if there is nothing left to do.
        _ = try SchemaComparison.renames(from: start, to: target, hints: hints)
        if start.differences(from: target).isEmpty {
            steps = []
            questions = []
            gone = []
            return
        }
        let comparison = try SchemaComparison(
            from: (db, start),
            to: (wanted, target),
            hints: hints,
            preparing: preparation
        )
        questions = comparison.questions
        gone = comparison.gone
        if questions.isEmpty {
            var planner = try SchemaPlanner(comparison, db)
            steps = try planner.allSteps()
        } else {
            steps = []
        }
    }

    /// Runs all steps in one transaction, or in a savepoint inside of your transaction.
    ///
    /// As with ``TableRebuild``, foreign keys are turned off before and on again afterwards, and must be off
    /// already inside a transaction. A plan without steps does nothing.
    ///
    /// - Parameters:
    ///   - db: The connection that the plan was made from, or another one to the same database.
    ///   - progress: Called before each step. A rebuild takes long, and so does filling a full-text index.
    ///     Cancel the task to end the plan.
    /// - Throws: `SQLError`, after which nothing was changed: `SQLError.Code.openQuestions`;
    ///   `SQLError.Code.refusedSchemaChange` if the schema was changed since the plan was made, or would not
    ///   become the target's; and the errors of ``TableRebuild/run(_:preparing:)``.
    public func apply(_ db: some SQLConnection, progress: (Progress) -> Void = { _ in }) throws(SQLError) {
        do throws(SQLError) { try change(db, reportingTo: progress) } catch { throw db.addingPath(to: error) }
    }

    private func change(_ db: some SQLConnection, reportingTo progress: (Progress) -> Void) throws(SQLError) {
        if !questions.isEmpty {
            throw SQLError(.openQuestions, questions.map(\.description).joined(separator: " "))
        }
        if steps.isEmpty { return }
        try SchemaTransaction.run(on: db) { () throws(SQLError) in
            guard
                try SchemaSnapshot(of: db, preparing: preparation).leavingAlone(what: target).isWritten(
                    like: start
                )
            else {
                throw SQLError(
                    .refusedSchemaChange,
                    "The schema was changed after the plan was made. Nothing was changed. Make the plan again"
                )
            }
            let before = try SchemaHealth(of: db, gone: gone)
            for (number, step) in steps.enumerated() {
                progress(Progress(step: step, completed: number, total: steps.count))
                try step.run(db, preparing: preparation)
            }
            let result = try SchemaSnapshot(of: db, preparing: preparation).leavingAlone(what: target)
                .leavingOut(start.shadowTables.assumed, unlessIn: target)
            if let difference = result.differences(from: target).first {
                throw SQLError(
                    .refusedSchemaChange,
                    "The \(difference.name) would not become what the target says. Nothing was changed."
                        + " Change it in a migration instead"
                )
            }
            let after = try SchemaHealth(of: db, gone: gone)
            try after.check(against: before, dropping: "Correct it in the target")
        }
    }
}

extension SchemaPlan {
    /// A change that a plan makes.
    public struct Step: Sendable, CustomStringConvertible {
        /// The step in words: `rebuild the table notes`.
        public let description: String

        /// The statements of the step, each with a semicolon and a line end.
        ///
        /// They are what ``SchemaPlan/apply(_:progress:)`` runs for the step, for a reader or a shell: the
        /// copy of a rebuild, the indexes and triggers that are made again, and the text of each `CREATE`
        /// statement. ``SchemaPlan/sql`` has the whole script, and says what `apply` does besides.
        ///
        /// It is a comment if the copy of a table can't be shown, because the schema needs something of your
        /// app that `preparing:` doesn't register, or because the step will fail.
        public internal(set) var sql = ""

        let action: Action

        enum Action {
            case statement(String)
            /// An ALTER that also rewrites what refers to the renamed table or column.
            case renaming(String)
            /// An ALTER that leaves what refers to the table as it is, because something broken prevents the
            /// other one.
            case renamingAlone(String)
            case rebuild(TableRebuild)
        }

        init(_ description: String, _ action: Action) {
            self.description = description
            self.action = action
        }
    }
}

extension SchemaPlan.Step {
    /// True if the step copies the rows of a table, which takes longer the more there are.
    public var isRebuild: Bool {
        if case .rebuild = action { true } else { false }
    }

    /// Runs the step in a transaction with foreign keys off and `legacy_alter_table` on.
    func run(_ db: some SQLConnection, preparing preparation: ConnectionPreparation) throws(SQLError) {
        switch action {
        case .statement(let sql), .renamingAlone(let sql): try db.rows(sql)
        case .renaming(let sql):
            try SchemaTransaction.setLegacyRenaming(false, on: db)
            try db.rows(sql)
            try SchemaTransaction.setLegacyRenaming(true, on: db)
        case .rebuild(let rebuild):
            do throws(SQLError) {
                try TableCopy(for: rebuild, on: db, preparing: preparation).run(db)
            } catch { throw rebuild.located(error) }
        }
    }
}

extension SchemaPlan {
    /// The plan as a script for a reader, or for a shell; empty if there is nothing to do, or a question is
    /// open.
    ///
    /// It has the statements of all steps in one transaction, each step after a comment with its description.
    /// In a shell that ends at the first error, such as `sqlite3 -bail`, it does to a database with the same
    /// schema what ``apply(_:progress:)`` does. `apply` also:
    ///
    /// - compares the schema with the one that the plan was made for, and the result with the target
    /// - refuses a value that the new schema can't keep, before rows are copied
    /// - counts the rows of a table whose columns are given values, and runs `ANALYZE` for a rebuilt table if
    ///   the app uses it
    /// - makes temporary triggers again
    /// - compiles every view and trigger, and looks for rows that refer to a missing row, if foreign keys are
    ///   on
    /// - leaves foreign keys and `legacy_alter_table` as they were; the script turns both off
    public var sql: String {
        if steps.isEmpty { return "" }
        let parts = steps.map { StepScript.comment($0.description) + $0.sql }
        return "PRAGMA foreign_keys = OFF;\nBEGIN IMMEDIATE;\n\(parts.joined())COMMIT;\n"
    }
}

extension SchemaPlan: CustomStringConvertible {
    /// The plan in words, one step or question in a line.
    public var description: String {
        if !questions.isEmpty {
            return (questions.map(\.description) + assumedShadowTableNotes).joined(separator: "\n")
        }
        let work =
            steps.isEmpty
            ? ["Nothing needs to be done: the database has the target's schema."] : steps.map(\.description)
        return (work + assumedShadowTableNotes).joined(separator: "\n")
    }
}

extension SchemaPlan {
    /// The progress of ``apply(_:progress:)``, reported before each step.
    public struct Progress: Sendable {
        /// The step that is about to run.
        public let step: Step

        /// How many steps have run.
        public let completed: Int

        /// How many steps the plan has.
        public let total: Int
    }
}

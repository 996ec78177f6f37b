public import AppMigrationsSQLite

/// The steps that change the schema of a database into a target schema, found by comparing the two.
///
/// The target is the SQL that creates the schema in an empty database. If a change could lose or alter your
/// users' data, a plan doesn't guess. It collects all its ``questions``, and does nothing until ``Hints``
/// answer them.
///
/// Two statements are the same if they differ only in blanks, comments, quotes and the case of keywords. If a
/// table differs, the plan adds its new columns if SQLite can do that, and rebuilds the table otherwise.
///
/// The guide <doc:ChangingATable#Let-the-schema-be-inferred> shows how.
public struct SchemaPlan: Sendable {
    /// The steps, in order; empty when the database has the target's schema, or questions are open.
    public let steps: [Step]

    /// The decisions that you have to make; empty when ``apply(_:progress:)`` can run.
    public let questions: [Question]

    /// The schema that the plan was made for.
    let start: SchemaSnapshot
    let target: SchemaSnapshot
    /// The names that columns of a table lose, because they are dropped or renamed.
    let removedColumnNames: Set<SQLName>
    private let preparation: ConnectionPreparation

    /// Compares a database with a schema, and changes nothing.
    ///
    /// The target is run in a private database in memory. If the schema needs functions, collations,
    /// tokenizers or modules of your app, register them there as on your own connection.
    ///
    /// The plan leaves this library's own tables, SQLite's internal tables and the shadow tables of virtual
    /// tables alone, unless the target creates them.
    ///
    /// - Parameters:
    ///   - db: A connection to SQLite: an `SQLiteConnection`, or one of another library that conforms to
    ///     `SQLConnection`.
    ///   - targetSQL: Statements that create the whole schema in an empty database.
    ///   - hints: The answers to questions. An answer that this database doesn't need is ignored.
    ///   - prepare: Called with the `sqlite3 *` of each private connection that the plan opens, before a
    ///     schema is read or created there. ``apply(_:progress:)`` opens some, too. The closure must not keep
    ///     the pointer. It isn't called for `db`, which is your own connection.
    /// - Throws: `SQLError`: SQLite's error for the target, with line and column;
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
        let made = try SchemaSnapshot.made(by: targetSQL, preparing: preparation)
        target = made.schema
        start = try SchemaSnapshot(of: db, preparing: preparation).withoutLedgers(unlessIn: target)
        // Check the hints even if there is nothing to do, so that contradictory hints are always an error.
        _ = try SchemaComparison.renames(from: start, to: target, hints: hints)
        if start.differences(from: target).isEmpty {
            steps = []
            questions = []
            removedColumnNames = []
            return
        }
        let comparison = try SchemaComparison(
            from: (db, start),
            to: (made.db, made.schema),
            hints: hints,
            preparing: preparation
        )
        questions = comparison.questions
        removedColumnNames = comparison.removedColumnNames
        if questions.isEmpty {
            var planner = try SchemaPlanner(comparison, on: db)
            steps = try planner.allSteps()
        } else {
            steps = []
        }
    }

    /// Runs all steps in one transaction, or in a savepoint inside of your transaction.
    ///
    /// As with ``TableRebuild``, foreign keys are turned off first and on again afterwards. Inside a
    /// transaction, they must already be off. A plan without steps does nothing.
    ///
    /// - Parameters:
    ///   - db: The connection that the plan was made from, or another one to the same database.
    ///   - progress: Called before each step. A rebuild takes long, and so does filling a full-text index.
    ///     Cancel the task to stop the plan.
    /// - Throws: `SQLError`; nothing was changed then. `SQLError.Code.openQuestions`;
    ///   `SQLError.Code.refusedSchemaChange` if the schema was changed after the plan was made, or if the
    ///   steps would not produce the target's schema; and the errors of ``TableRebuild/run(_:preparing:)``.
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
                try SchemaSnapshot(of: db, preparing: preparation).withoutLedgers(unlessIn: target).isWritten(
                    like: start
                )
            else {
                throw SQLError(
                    .refusedSchemaChange,
                    "The schema was changed after the plan was made. Nothing was changed. Make the plan again"
                )
            }
            let before = try SchemaHealth(of: db, removedColumnNames: removedColumnNames)
            for (number, step) in steps.enumerated() {
                progress(Progress(step: step, completed: number, total: steps.count))
                try step.run(db, preparing: preparation)
            }
            let result = try SchemaSnapshot(of: db, preparing: preparation).withoutLedgers(unlessIn: target)
                .leavingOut(start.shadowTables.assumed, unlessIn: target)
            if let difference = result.differences(from: target).first {
                throw SQLError(
                    .refusedSchemaChange,
                    "The \(difference.name) would still differ from the target. Nothing was changed."
                        + " Change it in a migration instead"
                )
            }
            let after = try SchemaHealth(of: db, removedColumnNames: removedColumnNames)
            try after.check(against: before, advice: "Correct it in the target")
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
        /// They are the SQL that ``SchemaPlan/apply(_:progress:)`` runs for the step, to be read or run in a
        /// shell. For a rebuild they include copying the rows, and creating indexes and triggers again.
        /// ``SchemaPlan/sql`` has the whole script, and lists what `apply` does in addition.
        ///
        /// If a rebuild can't be shown as SQL, this is an SQL comment with the reason: the schema needs
        /// something of your app that `preparing:` doesn't register, or the step will fail.
        public internal(set) var sql = ""

        let action: Action

        enum Action {
            case statement(String)
            /// An ALTER that also rewrites the references to the renamed table or column.
            case renaming(String)
            /// An ALTER that renames the table alone. It is used if a view or a trigger that doesn't compile
            /// prevents the other kind of rename.
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
    /// The plan as a script to be read or run in a shell; empty if there is nothing to do, or a question is
    /// open.
    ///
    /// It has the statements of all steps in one transaction, each step after a comment with its description.
    /// In a shell that stops at the first error, such as `sqlite3 -bail`, it changes a database with the same
    /// schema as ``apply(_:progress:)`` does. `apply` also:
    ///
    /// - compares the schema with the one that the plan was made for, and the result with the target
    /// - refuses a value that the new schema can't keep, before rows are copied
    /// - counts the rows of a table whose columns are given values, and runs `ANALYZE` for a rebuilt table if
    ///   the app uses it
    /// - creates temporary triggers again
    /// - compiles every view and trigger, and looks for rows that refer to a missing row, if foreign keys are
    ///   on
    /// - restores foreign keys and `legacy_alter_table`; the script turns both off
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

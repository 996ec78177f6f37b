public import AppMigrationsSQLite

extension SQLiteStore {
    /// What a store is, against a schema.
    public enum Status: Sendable {
        /// It has the target's schema.
        case same

        /// This plan makes its schema the target's, without a question.
        case migratable(SchemaPlan)

        /// It takes a migration of its own, or hints that answer these questions.
        case undecided([SchemaPlan.Question])

        /// There is no file, or one without a byte.
        case missing

        /// It is no database or a damaged one, or its log is there without it.
        ///
        /// ``SQLiteStore/setAside(onlyIfDamaged:check:lockTimeout:)`` is for this case.
        case damaged(SQLError)

        /// It was written by a newer SQLite than this one: the app went back, or the system did.
        case newer(SQLError)

        /// Somebody else has locked it for longer than the wait.
        case busy(SQLError)

        /// It cannot be read, for a reason that says nothing about what it holds: missing rights, a folder
        /// in its place, a failing disk, an encrypted database.
        case unreachable(SQLError)
    }

    /// Looks at the store, and changes nothing.
    ///
    /// Like every reader, SQLite takes back what a process that died had half written.
    ///
    /// - Parameters:
    ///   - target: Statements that make the whole schema in an empty database, as for ``SchemaPlan``.
    ///   - hints: The answers to its questions.
    ///   - check: Whether every page is read, too. Without it damage shows only where the schema is.
    ///   - lockTimeout: How long to wait for a lock before it is ``Status/busy(_:)``.
    /// - Returns: What the store is, with the plan, the questions or the reason.
    /// - Throws: `SQLError` for a target or hints that are not right; everything about the store is a case.
    public func status(
        target: String,
        hints: SchemaPlan.Hints = SchemaPlan.Hints(),
        check: Check = .off,
        lockTimeout: Duration = .seconds(5)
    ) throws(SQLError) -> Status {
        let files: StoreFiles
        do throws(SQLError) { files = try StoreFiles(of: path) } catch {
            guard error.code == .unreachable else { throw error }
            return .unreachable(error)
        }
        var plan: SchemaPlan?
        let found = try StoreInspection.of(files, check: check, busyTimeout: lockTimeout) {
            db throws(SQLError) in
            plan = try SchemaPlan(from: db, to: target, hints: hints)
        }
        switch found {
        case .damaged(let error): return .damaged(error)
        case .newer(let error): return .newer(error)
        case .busy(let error): return .busy(error)
        case .unreachable(let error): return .unreachable(error)
        case .none, .usable: break
        }
        guard let plan else { return .missing }
        if !plan.questions.isEmpty { return .undecided(plan.questions) }
        return plan.steps.isEmpty ? .same : .migratable(plan)
    }
}

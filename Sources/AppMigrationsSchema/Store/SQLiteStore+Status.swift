public import AppMigrationsSQLite

extension SQLiteStore {
    /// The state of a store, compared with a schema.
    public enum Status: Sendable {
        /// It has the target's schema.
        case same

        /// This plan changes its schema into the target's, without open questions.
        case migratable(SchemaPlan)

        /// It needs a migration of your own, or hints that answer these questions.
        case undecided([SchemaPlan.Question])

        /// There is no file, or it is empty.
        case missing

        /// The file is damaged or isn't a database.
        ///
        /// Or the file is missing or empty, although its log has content or its journal has to be rolled
        /// back.
        ///
        /// ``SQLiteStore/setAside(onlyIfDamaged:check:lockTimeout:)`` is for this case.
        case damaged(SQLError)

        /// It was written by a newer SQLite than this one, because the app or the system was downgraded.
        case newer(SQLError)

        /// Another connection has locked it for longer than this call waits.
        case busy(SQLError)

        /// It can't be read, for a reason that says nothing about its content: missing permissions, a folder
        /// in its place, a failing disk, an encrypted database.
        case unreachable(SQLError)
    }

    /// Compares the store with a schema, and changes nothing.
    ///
    /// There is one exception: if a process died in a transaction, SQLite rolls it back, as whenever a
    /// database is opened.
    ///
    /// - Parameters:
    ///   - target: Statements that create the whole schema in an empty database, as for ``SchemaPlan``.
    ///   - hints: The answers to its questions.
    ///   - check: How thoroughly the store is read. With `off`, damage is found only in the schema.
    ///   - lockTimeout: How long to wait for a lock. After that, the result is ``Status/busy(_:)``.
    ///   - prepare: Called with the `sqlite3 *` of the connection to the store and of each private connection
    ///     of a plan, before anything is read there. Register the functions, collations, tokenizers and
    ///     modules of your app, as for ``SchemaPlan/init(from:to:hints:preparing:)``.
    ///   - reporting: Called for each virtual table that has a problem or can't be checked. Such a problem
    ///     doesn't count as damage. Without the closure, or if `check` is `off`, virtual tables aren't
    ///     checked.
    /// - Returns: The state of the store, with the plan, the questions or the reason.
    /// - Throws: `SQLError` for an invalid path, a wrong target or wrong hints, a collation that the check
    ///   needs and that isn't registered, and a cancelled task. Every other problem is returned as a
    ///   ``Status``.
    public func status(
        target: String,
        hints: SchemaPlan.Hints = SchemaPlan.Hints(),
        check: Check = .off,
        lockTimeout: Duration = .seconds(5),
        preparing prepare: @escaping @Sendable (OpaquePointer) throws -> Void = { _ in },
        reporting: ((VirtualTableProblem) -> Void)? = nil
    ) throws(SQLError) -> Status {
        let preparation = ConnectionPreparation(prepare)
        var plan: SchemaPlan?
        do throws(SQLError) {
            var examination = StoreExamination(files: try files, busyTimeout: lockTimeout)
            examination.preparation = preparation
            try examination.examine(check: check, reporting: reporting) { db throws(SQLError) in
                plan = try SchemaPlan(from: db, to: target, hints: hints, preparation: preparation)
            }
        } catch {
            switch error.code {
            case .damaged: return .damaged(error)
            case .newerSchema: return .newer(error)
            case .busy: return .busy(error)
            case .unreachable: return .unreachable(error)
            default: throw error
            }
        }
        guard let plan else { return .missing }
        if !plan.questions.isEmpty { return .undecided(plan.questions) }
        return plan.steps.isEmpty ? .same : .migratable(plan)
    }
}

extension SQLiteStore.Status: CustomStringConvertible {
    /// A text for a log or a terminal: the name of the case, followed by the plan's steps, the questions or
    /// the reason.
    public var description: String {
        switch self {
        case .same: "same: the store has the target's schema"
        case .missing: "missing: there is no store yet"
        case .migratable(let plan): "migratable:\n\(plan)"
        case .undecided(let questions):
            "undecided:\n\(questions.map(\.description).joined(separator: "\n"))"
        case .damaged(let error): "damaged: \(error)"
        case .newer(let error): "newer: \(error)"
        case .busy(let error): "busy: \(error)"
        case .unreachable(let error): "unreachable: \(error)"
        }
    }
}

extension SQLiteStore {
    /// How thoroughly a database is checked for damage.
    ///
    /// A row that breaks a constraint doesn't count as damage, nor does a problem of a virtual table: see
    /// ``VirtualTableProblem``.
    public enum Check: Sendable, Hashable {
        /// Not at all.
        case off

        /// Every page and every row, but not whether the indexes agree with the rows (`PRAGMA quick_check`).
        ///
        /// A staged migration checks foreign keys, too.
        case quick

        /// Everything (`PRAGMA integrity_check`).
        ///
        /// With this check, `open` sets a store aside even if only an index is wrong, although `REINDEX`
        /// would repair it.
        case full
    }
}

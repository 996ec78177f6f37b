public import AppMigrationsSQLite

extension SQLiteStore {
    /// The state of a store, against a schema.
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
    ///   - check: How thoroughly the store is read. With `off` damage shows only where the schema is.
    ///   - lockTimeout: How long to wait for a lock before it is ``Status/busy(_:)``.
    ///   - prepare: Called with the `sqlite3 *` of the connection to the store and of each private connection
    ///     of a plan, before anything is read there. Register the functions, collations, tokenizers and
    ///     modules of your app, as for ``SchemaPlan/init(from:to:hints:preparing:)``.
    ///   - reporting: Called for each virtual table that the check complains about or can't check, which is no damage
    ///     of the store. Without it, virtual tables aren't checked.
    /// - Returns: The state of the store, with the plan, the questions or the reason.
    /// - Throws: `SQLError` for what is no path, for a target or hints that are not right, a check without a collation of the app's,
    ///   or a cancelled task; everything else about the store is a case.
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
            var look = StoreLook(files: try StoreFiles(of: path), busyTimeout: lockTimeout)
            look.preparation = preparation
            _ = try look.isUsable(check, reporting: reporting) { db throws(SQLError) in
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
    /// The store's state for a person: its case, and the plan's steps, the questions or the reason in the lines below.
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
    /// How thoroughly a database is looked through for damage.
    ///
    /// A row that breaks a constraint is no damage.
    public enum Check: Sendable, Hashable {
        /// Not at all.
        case off

        /// Every page and every row, but not whether the indexes say the same (`PRAGMA quick_check`), and the
        /// foreign keys where a migration is checked.
        case quick

        /// Everything (`PRAGMA integrity_check`): `open` also sets a store aside whose index alone is wrong, which `REINDEX` mends.
        case full
    }
}

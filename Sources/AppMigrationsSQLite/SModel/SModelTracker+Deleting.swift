public import AppMigrationsSQL

extension SModelTracker {
    /// Deletes the rows of all tables, for example at a log-out, like `truncateAllTables` of sModel.
    ///
    /// What has run in the database stays recorded: the rows of sModel's own table, of each migrator's
    /// ledger and of `app_migrations` aren't deleted. Without these rows, a release with sModel would run its
    /// definitions again, which fails, and then sModel deletes the database. A ledger of another name is
    /// recognized by its columns, which are exactly those with which this library creates it. The ledgers of
    /// other tools that *Writing SQL migrations* lists are recognized by their names and columns. Name any
    /// further ledgers in `tables`.
    ///
    /// Triggers run. The counters of `AUTOINCREMENT` stay as they are. The rows of virtual tables, such as
    /// full-text indexes, are deleted after those of all other tables. If a virtual table refuses that, the
    /// method throws. Then name that table in `tables`, and delete its rows yourself.
    ///
    /// A full-text index with `content=` indexes the rows of another table. It is emptied only if triggers
    /// keep it up to date. Without such triggers, run its command `'rebuild'` afterwards.
    ///
    /// - Parameters:
    ///   - db: The connection to the database. If it is in a transaction, the change is part of it, and
    ///     foreign keys aren't checked before its commit.
    ///   - tables: Further tables whose rows aren't deleted.
    /// - Throws: `SQLError`, for example if a kept row refers to a deleted one and foreign keys are on, or if
    ///   a trigger inserts rows again. Then no row was deleted.
    public static func deleteAllRows(
        in db: SQLiteConnection,
        except tables: [String] = []
    ) throws(SQLError) {
        let kept = Set(tables.map { SQLName($0) })
        do {
            try db.transaction {
                let objects = try tablesToEmpty(in: db).filter { !kept.contains($0.name) }
                // A table may be emptied before the tables that refer to it. This is also true of a foreign
                // key with ON DELETE RESTRICT.
                try db.query("PRAGMA defer_foreign_keys = ON")
                try empty(objects.filter { !$0.isVirtual }.map(\.name), of: db)
                // A trigger may need the rows of a virtual table, to delete them itself.
                for table in objects where table.isVirtual {
                    try db.query("DELETE FROM main.\(table.name.quoted)")
                }
            }
        } catch {
            throw SQLError.wrapped(error, as: .statementFailed)
        }
    }

    /// The tables of the app, without those in which this library or sModel records what has run.
    private static func tablesToEmpty(in db: SQLiteConnection) throws(SQLError) -> [SchemaObject] {
        let objects = try SchemaObject.all(of: db)
        // Only its module may change the table of a virtual table.
        let shadowTables = try ShadowTables(among: objects, of: db) { () throws(SQLError) in
            try SQLiteConnection(path: ":memory:")
        }
        let session = SQLiteSession(SQLConversation(db))
        var tables: [SchemaObject] = []
        for object in objects where object.kind == .table && !object.name.isInternal {
            if shadowTables.contains(object) { continue }
            if object.name.text.lowercased().hasPrefix("_smodel") { continue }
            if try !LedgerTable.isLedger(object, in: session) { tables.append(object) }
        }
        return tables
    }

    /// Deletes the rows of tables.
    ///
    /// A trigger can insert rows into a table that is already empty. So this tries again, at most once for
    /// each table.
    private static func empty(_ tables: [SQLName], of db: SQLiteConnection) throws(SQLError) {
        var left = tables
        var triesLeft = tables.count
        while !left.isEmpty, triesLeft > 0 {
            triesLeft -= 1
            for table in left { try db.query("DELETE FROM main.\(table.quoted)") }
            left = []
            for table in tables {
                let rows = try db.query("SELECT 1 FROM main.\(table.quoted) LIMIT 1")
                if !rows.isEmpty { left.append(table) }
            }
        }
        if let table = left.first {
            let message = "The table \(table) isn't empty after its rows were deleted, because of a trigger"
            throw db.addingPath(to: SQLError(.statementFailed, message))
        }
    }
}

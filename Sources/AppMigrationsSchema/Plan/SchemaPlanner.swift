internal import AppMigrationsSQLite

/// Finds the steps of a plan without open questions, trying them out on a scratch copy.
struct SchemaPlanner {
    private let comparison: SchemaComparison
    private let scratch: ScratchSchema
    private var steps = [SchemaPlan.Step]()
    /// The schema as the steps so far would leave it.
    private var now: SchemaSnapshot

    private var target: SchemaSnapshot { comparison.target }

    init(_ comparison: SchemaComparison, _ db: some SQLConnection) throws(SQLError) {
        try comparison.refuseBlindIndexes(db)
        self.comparison = comparison
        now = comparison.start
        scratch = try ScratchSchema(
            of: comparison.start,
            filling: comparison.tables.map(\.old),
            preparing: comparison.preparation
        )
    }

    /// All steps, in an order in which nothing that is needed is missing, each with its SQL.
    mutating func allSteps() throws(SQLError) -> [SchemaPlan.Step] {
        var steps = try stepsInOrder()
        var script = try StepScript(of: comparison.start, preparing: comparison.preparation)
        for index in steps.indices {
            steps[index].sql = try script.sql(of: steps[index], preparing: comparison.preparation)
        }
        return steps
    }

    private mutating func stepsInOrder() throws(SQLError) -> [SchemaPlan.Step] {
        let changes = try changesInOrder()
        try renameTables()
        let renamed = try renameColumns()
        let form = SchemaForm(now, target)
        let isStale = stale(form)
        for kind in [SchemaObject.Kind.trigger, .view, .index] {
            for object in now.objects where object.kind == kind && isStale(object) {
                if comparison.droppedTables.contains(object.table) || waits(object) { continue }
                drop(object)
            }
        }
        // A table that an expression reads stays until the rebuilds are done.
        let replaced = comparison.droppedTables.filter { target[.table, $0] != nil && !isRead($0) }
        for table in replaced { add("drop the table \(table)", "DROP TABLE main.\(table.quoted)") }
        let missing = target.objects.filter { object in
            object.kind == .table
                && (now[.table, object.name] == nil || comparison.droppedTables.contains(object.name))
        }
        let missingTables = missing.filter { !$0.isVirtual }
        for table in missingTables where !isRead(table.name) { try create(table) }
        for change in changes { try make(change, renamed[change.new.name] ?? [], form) }
        // After the rebuilds, whose expressions may read them.
        for view in now.objects where view.kind == .view && isStale(view) && waits(view) { drop(view) }
        for table in comparison.droppedTables where !replaced.contains(table) {
            add("drop the table \(table)", "DROP TABLE main.\(table.quoted)")
        }
        for table in missingTables where isRead(table.name) { try create(table) }
        try create([.index, .view], where: isStale)
        // A full-text index takes its columns and its words from tables and views that are complete now.
        for table in missing where table.isVirtual { try create(table) }
        for table in missing where table.isVirtual {
            if try comparison.fillingTables(of: table.name).isEmpty { continue }
            add("fill the full-text index \(table.name)", FullTextIndex.filling(table.name))
        }
        try create([.trigger], where: isStale)
        return steps
    }

    /// Creates the objects of some kinds that are missing or stale.
    private mutating func create(
        _ kinds: [SchemaObject.Kind],
        where isStale: (SchemaObject) -> Bool
    ) throws(SQLError) {
        for kind in kinds {
            for object in target.objects where object.kind == kind {
                if let mine = now[kind, object.name], !isStale(mine) { continue }
                try create(object)
            }
        }
    }

    /// The changes in an order in which each expression reads other tables as they were.
    private func changesInOrder() throws(SQLError) -> [TableChange] {
        var left = comparison.tables
        var changes = [TableChange]()
        while !left.isEmpty {
            let next = left.firstIndex { change in
                !left.contains { $0.new.name != change.new.name && $0.reads.mayRead(change.new.name) }
            }
            guard let next else {
                throw SQLError(
                    .refusedSchemaChange,
                    "The values for the tables \(left.map(\.new.name.text).joined(separator: ", ")) read one another,"
                        + " so that one would read the new rows of another. Nothing was changed."
                        + " Give some of them in a migration"
                )
            }
            changes.append(left.remove(at: next))
        }
        return changes
    }

    /// True if an expression for a table may read a table or a view.
    private func isRead(_ name: SQLName) -> Bool { comparison.tables.contains { $0.reads.mayRead(name) } }

    /// True if a view is dropped after the rebuilds, since an expression reads it.
    private func waits(_ object: SchemaObject) -> Bool { object.kind == .view && isRead(object.name) }

    private mutating func renameTables() throws(SQLError) {
        for (old, new) in comparison.renamedTables {
            let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
            let words = "rename the table \(old) to \(new)"
            let isFollowed = try scratch.rename(old, to: new)
            steps.append(.init(words, isFollowed ? .renaming(sql) : .renamingAlone(sql)))
            now = try scratch.snapshot(instead: now)
        }
    }

    /// Renames what SQLite can; gives the old names by the table's name.
    private mutating func renameColumns() throws(SQLError) -> [SQLName: Set<SQLName>] {
        var done = [SQLName: Set<SQLName>]()
        // The expressions of the hints use the old names, also those for other tables.
        for change in comparison.tables where change.values.isEmpty && !isRead(change.new.name) {
            for (old, new) in change.renamed {
                let table = change.new.name
                let sql = "ALTER TABLE main.\(table.quoted) RENAME COLUMN \(old.quoted) TO \(new.quoted)"
                guard try scratch.accepts(sql) else { continue }
                steps.append(
                    .init("rename the column \(old) of the table \(table) to \(new)", .renaming(sql))
                )
                done[table, default: []].insert(old)
                now = try scratch.snapshot(instead: now)
            }
        }
        return done
    }

    /// Tells the indexes, views and triggers that are not in the target as they are.
    private func stale(_ form: SchemaForm) -> (SchemaObject) -> Bool {
        let (now, target, dropped) = (now, target, comparison.droppedTables)
        func differs(_ object: SchemaObject) -> Bool {
            target[object.kind, object.name].map { !form.areSame($0, object) } ?? true
        }
        return { object in
            if differs(object) || dropped.contains(object.table) { return true }
            // A trigger goes with its view.
            return object.kind == .trigger && now[.view, object.table].map(differs) == true
        }
    }

    private mutating func make(
        _ change: TableChange,
        _ renamed: Set<SQLName>,
        _ form: SchemaForm
    ) throws(SQLError) {
        let name = change.new.name
        guard let wanted = target[.table, name] else { return }
        if change.values.isEmpty, let mine = now[.table, name] {
            if form.areSame(mine, wanted) { return }
            if let added = try scratch.adding(change, as: wanted, form) {
                steps += added
                return
            }
        }
        steps.append(.init("rebuild the table \(name)", .rebuild(change.rebuild(done: renamed))))
    }

    private mutating func create(_ object: SchemaObject) throws(SQLError) {
        add("create the \(object.kind) \(object.name)", try object.statement().text(in: "main"))
    }

    private mutating func drop(_ object: SchemaObject) {
        add("drop the \(object.kind) \(object.name)", "DROP \(object.kind) main.\(object.name.quoted)")
    }

    private mutating func add(_ description: String, _ sql: String) {
        steps.append(.init(description, .statement(sql)))
    }
}

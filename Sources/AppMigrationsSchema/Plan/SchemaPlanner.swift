internal import AppMigrationsSQLite

/// Finds the steps of a plan without open questions, and tries some of them in a copy of the schema.
struct SchemaPlanner {
    private let comparison: SchemaComparison
    private let scratch: ScratchSchema
    private var steps = [SchemaPlan.Step]()
    /// The schema after the renames that are planned so far.
    private var now: SchemaSnapshot

    private var target: SchemaSnapshot { comparison.target }

    init(_ comparison: SchemaComparison, _ db: some SQLConnection) throws(SQLError) {
        try comparison.refuseRenamesBreakingFullTextIndexes(db)
        self.comparison = comparison
        now = comparison.start
        scratch = try ScratchSchema(
            of: comparison.start,
            filling: comparison.tables.map(\.old),
            preparing: comparison.preparation
        )
    }

    /// All steps with their SQL, ordered so that the prerequisites of each step exist when it runs.
    mutating func allSteps() throws(SQLError) -> [SchemaPlan.Step] {
        var steps = try stepsInOrder()
        // The SQL of a rebuild is known only after a dry run. Without a rebuild, no dry run is needed.
        if !steps.contains(where: \.isRebuild) {
            for index in steps.indices { steps[index].sql = StepScript.sql(withoutRebuild: steps[index]) }
            return steps
        }
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
        let isStale = stale(comparedBy: form)
        for kind in [SchemaObject.Kind.trigger, .view, .index] {
            for object in now.objects where object.kind == kind && isStale(object) {
                if isDroppedWithTable(object) || isReadByExpression(object) { continue }
                addStep(dropping: object)
            }
        }
        // A table that an expression reads is dropped after the rebuilds.
        let replaced = comparison.droppedTables.filter { target[.table, $0] != nil && !isRead($0) }
        for table in replaced { addStep("drop the table \(table)", sql: "DROP TABLE main.\(table.quoted)") }
        let missing = target.objects.filter { object in
            object.kind == .table
                && (now[.table, object.name] == nil || comparison.droppedTables.contains(object.name))
        }
        let missingTables = missing.filter { !$0.isVirtual }
        for table in missingTables where !isRead(table.name) { try addStep(creating: table) }
        for change in changes {
            try addSteps(changing: change, renamed: renamed[change.new.name] ?? [], comparedBy: form)
        }
        // These views are dropped after the rebuilds, whose expressions may read them.
        for view in now.objects where view.kind == .view && isStale(view) && isReadByExpression(view) {
            addStep(dropping: view)
        }
        for table in comparison.droppedTables where !replaced.contains(table) {
            addStep("drop the table \(table)", sql: "DROP TABLE main.\(table.quoted)")
        }
        for table in missingTables where isRead(table.name) { try addStep(creating: table) }
        let missingIndexes = target.objects.filter { $0.kind == .index && isMissing($0, or: isStale) }
        for index in missingIndexes where !isOnShadowTable(index) { try addStep(creating: index) }
        for view in target.objects where view.kind == .view && isMissing(view, or: isStale) {
            try addStep(creating: view)
        }
        // A full-text index takes its columns and its words from tables and views, which are complete now.
        for table in missing where table.isVirtual { try addStep(creating: table) }
        for index in missingIndexes where isOnShadowTable(index) { try addStep(creating: index) }
        for table in missing where table.isVirtual {
            if try comparison.fillingTables(of: table.name).isEmpty { continue }
            addStep("fill the full-text index \(table.name)", sql: FullTextIndex.filling(table.name))
        }
        for trigger in target.objects where trigger.kind == .trigger && isMissing(trigger, or: isStale) {
            try addStep(creating: trigger)
        }
        return steps
    }

    /// True if an object of the target has to be created: it doesn't exist, or an earlier step drops it.
    private func isMissing(_ object: SchemaObject, or isStale: (SchemaObject) -> Bool) -> Bool {
        now[object.kind, object.name].map(isStale) ?? true
    }

    /// True for an index on a table that the module of a virtual table creates.
    private func isOnShadowTable(_ index: SchemaObject) -> Bool { target[.table, index.table] == nil }

    /// The table changes, ordered so that a table is changed after the expressions of other tables have read
    /// it.
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
                    "The expressions in values for the tables \(left.map(\.new.name.text).joined(separator: ", ")) read each"
                        + " other's tables, so none of these can be changed first. Nothing was changed."
                        + " Set some of the values in a migration"
                )
            }
            changes.append(left.remove(at: next))
        }
        return changes
    }

    /// True if an expression for a table may read a table or a view.
    private func isRead(_ name: SQLName) -> Bool { comparison.tables.contains { $0.reads.mayRead(name) } }

    /// True if the object's table is dropped, either directly or as a shadow table of a dropped virtual
    /// table.
    private func isDroppedWithTable(_ object: SchemaObject) -> Bool {
        comparison.droppedTables.contains(now.shadowTables.owner(of: object.table) ?? object.table)
    }

    /// True for a view that an expression reads.
    ///
    /// It is dropped after the rebuilds.
    private func isReadByExpression(_ view: SchemaObject) -> Bool { view.kind == .view && isRead(view.name) }

    private mutating func renameTables() throws(SQLError) {
        for (old, new) in comparison.renamedTables {
            let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
            let words = "rename the table \(old) to \(new)"
            let updatesReferences = try scratch.rename(old, to: new)
            steps.append(.init(words, updatesReferences ? .renaming(sql) : .renamingAlone(sql)))
            now = try scratch.snapshot(orIfNotCopied: now)
        }
    }

    /// Renames the columns that SQLite can rename.
    ///
    /// - Returns: The old names of these columns, by the table's name in the target.
    private mutating func renameColumns() throws(SQLError) -> [SQLName: Set<SQLName>] {
        var done = [SQLName: Set<SQLName>]()
        // Expressions use the old names of columns. So the columns of a table keep them until the rebuild if
        // an expression for this table or for another one reads the table.
        for change in comparison.tables where change.values.isEmpty && !isRead(change.new.name) {
            for (old, new) in change.renamed {
                let table = change.new.name
                let sql = "ALTER TABLE main.\(table.quoted) RENAME COLUMN \(old.quoted) TO \(new.quoted)"
                guard try scratch.accepts(sql) else { continue }
                steps.append(
                    .init("rename the column \(old) of the table \(table) to \(new)", .renaming(sql))
                )
                done[table, default: []].insert(old)
                now = try scratch.snapshot(orIfNotCopied: now)
            }
        }
        return done
    }

    /// Returns a closure that is true for an index, a view or a trigger that has to be dropped.
    ///
    /// An object is dropped if the target lacks it or defines it differently, or if its table or view is
    /// dropped.
    private func stale(comparedBy form: SchemaForm) -> (SchemaObject) -> Bool {
        let now = now
        let target = target
        let isDroppedWithTable = isDroppedWithTable
        func differs(_ object: SchemaObject) -> Bool {
            target[object.kind, object.name].map { !form.areSame($0, object) } ?? true
        }
        return { object in
            if differs(object) || isDroppedWithTable(object) { return true }
            // Dropping a view also drops its triggers.
            return object.kind == .trigger && now[.view, object.table].map(differs) == true
        }
    }

    /// Adds the steps that add columns to a table, or the step that rebuilds it.
    private mutating func addSteps(
        changing change: TableChange,
        renamed: Set<SQLName>,
        comparedBy form: SchemaForm
    ) throws(SQLError) {
        let name = change.new.name
        guard let wanted = target[.table, name] else { return }
        if change.values.isEmpty, let mine = now[.table, name] {
            if form.areSame(mine, wanted) { return }
            if let added = try scratch.adding(change, as: wanted, comparedBy: form) {
                steps += added
                return
            }
        }
        steps.append(.init("rebuild the table \(name)", .rebuild(change.rebuild(done: renamed))))
    }

    private mutating func addStep(creating object: SchemaObject) throws(SQLError) {
        addStep("create the \(object.kind) \(object.name)", sql: try object.statement().text(in: "main"))
    }

    private mutating func addStep(dropping object: SchemaObject) {
        addStep(
            "drop the \(object.kind) \(object.name)",
            sql: "DROP \(object.kind) main.\(object.name.quoted)"
        )
    }

    private mutating func addStep(_ description: String, sql: String) {
        steps.append(.init(description, .statement(sql)))
    }
}

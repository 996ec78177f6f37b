internal import AppMigrationsSQLite

/// Finds the steps of a plan without open questions, and tries some of them in a copy of the schema.
struct SchemaPlanner {
    private let comparison: SchemaComparison
    private let scratch: ScratchSchema
    private var steps = [SchemaPlan.Step]()
    /// The schema after the renames that are planned so far.
    private var renamedSchema: SchemaSnapshot
    /// Compares the objects of `renamedSchema` with those of the target.
    private var form: SchemaForm

    private var target: SchemaSnapshot { comparison.target }

    init(_ comparison: SchemaComparison, on db: some SQLConnection) throws(SQLError) {
        try comparison.refuseRenamesBreakingFullTextIndexes(in: db)
        self.comparison = comparison
        renamedSchema = comparison.start
        form = comparison.form
        scratch = try ScratchSchema(
            of: comparison.start,
            insertingRowInto: comparison.tables.map(\.old),
            preparing: comparison.preparation
        )
    }

    /// All steps with their SQL, ordered so that the prerequisites of each step exist when it runs.
    mutating func allSteps() throws(SQLError) -> [SchemaPlan.Step] {
        try planSteps()
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

    private mutating func planSteps() throws(SQLError) {
        let changes = try changesInOrder()
        try renameTables()
        let renamedColumns = try renameColumns()
        // All steps so far are renames, and the form depends on the names in both schemas.
        if !steps.isEmpty { form = SchemaForm(renamedSchema, target) }
        // An expression of a rebuild may read another table or a view, and has to see it as it was before the
        // plan. So the tables and views that an expression reads are dropped only after the rebuilds.
        dropStaleObjects()
        try replaceTables()
        for change in changes {
            try addSteps(changing: change, renamed: renamedColumns[change.new.name] ?? [])
        }
        try dropAndCreateRemainingTables()
        try createObjects()
    }

    /// Drops the stale triggers, views and indexes, except the views that an expression reads.
    ///
    /// Objects that SQLite drops together with their table need no step.
    private mutating func dropStaleObjects() {
        for kind in [SchemaObject.Kind.trigger, .view, .index] {
            for object in renamedSchema.objects where object.kind == kind && isStale(object) {
                if isDroppedWithTable(object) || isReadByExpression(object) { continue }
                addStep(dropping: object)
            }
        }
    }

    /// Drops the tables that have to be replaced, and creates the new ordinary tables.
    ///
    /// Tables that an expression reads are left for ``dropAndCreateRemainingTables()``.
    private mutating func replaceTables() throws(SQLError) {
        for table in comparison.droppedTables where isReplacedBeforeRebuilds(table) {
            addStep(droppingTable: table)
        }
        for table in tablesToCreate where !table.isVirtual && !isRead(table.name) {
            try addStep(creating: table)
        }
    }

    /// Drops the remaining stale views and tables, and creates the remaining ordinary tables.
    ///
    /// It runs after the rebuilds, whose expressions may read the dropped views and tables. Tables that the
    /// target doesn't have are also dropped here.
    private mutating func dropAndCreateRemainingTables() throws(SQLError) {
        for view in renamedSchema.objects where isReadByExpression(view) && isStale(view) {
            addStep(dropping: view)
        }
        for table in comparison.droppedTables where !isReplacedBeforeRebuilds(table) {
            addStep(droppingTable: table)
        }
        for table in tablesToCreate where !table.isVirtual && isRead(table.name) {
            try addStep(creating: table)
        }
    }

    /// Creates the indexes, views, virtual tables and triggers that are missing, and fills the new full-text
    /// indexes.
    private mutating func createObjects() throws(SQLError) {
        let indexes = target.objects.filter { $0.kind == .index && isMissing($0) }
        for index in indexes where !isOnShadowTable(index) { try addStep(creating: index) }
        for view in target.objects where view.kind == .view && isMissing(view) {
            try addStep(creating: view)
        }
        // A full-text index takes its columns and its words from tables and views, which are complete now.
        let virtualTables = tablesToCreate.filter(\.isVirtual)
        for table in virtualTables { try addStep(creating: table) }
        for index in indexes where isOnShadowTable(index) { try addStep(creating: index) }
        for table in virtualTables {
            if try comparison.newContentTables(of: table.name).isEmpty { continue }
            addStep(
                "fill the full-text index \(table.name)",
                sql: FullTextIndex.rebuildCommand(for: table.name)
            )
        }
        for trigger in target.objects where trigger.kind == .trigger && isMissing(trigger) {
            try addStep(creating: trigger)
        }
    }

    /// The tables of the target that don't exist after the renames, or that an earlier step drops.
    private var tablesToCreate: [SchemaObject] {
        target.objects.filter { object in
            object.kind == .table
                && (renamedSchema[.table, object.name] == nil
                    || comparison.droppedTables.contains(object.name))
        }
    }

    /// True if a table to drop has to make room for a new one of the same name, and no expression reads it.
    private func isReplacedBeforeRebuilds(_ table: SQLName) -> Bool {
        target[.table, table] != nil && !isRead(table)
    }

    /// True if an index, a view or a trigger of the target has to be created: it doesn't exist, or an earlier
    /// step drops it.
    private func isMissing(_ object: SchemaObject) -> Bool {
        renamedSchema[object.kind, object.name].map(isStale) ?? true
    }

    /// True for an index on a table that the module of a virtual table creates.
    private func isOnShadowTable(_ index: SchemaObject) -> Bool { target[.table, index.table] == nil }

    /// The table changes, ordered so that a table is changed after the expressions of other tables have read
    /// it.
    private func changesInOrder() throws(SQLError) -> [TableChange] {
        var remaining = comparison.tables
        var changes = [TableChange]()
        while !remaining.isEmpty {
            let next = remaining.firstIndex { change in
                !remaining.contains { $0.new.name != change.new.name && $0.reads.mayRead(change.new.name) }
            }
            guard let next else {
                let names = remaining.map(\.new.name.text).joined(separator: ", ")
                throw SQLError(
                    .refusedSchemaChange,
                    "The expressions in values for the tables \(names) read each other's tables, so none of these can be"
                        + " changed first. Nothing was changed. Set some of the values in a migration"
                )
            }
            changes.append(remaining.remove(at: next))
        }
        return changes
    }

    /// True if an expression for a table may read a table or a view.
    private func isRead(_ name: SQLName) -> Bool { comparison.tables.contains { $0.reads.mayRead(name) } }

    /// True if the object's table is dropped, either directly or as a shadow table of a dropped virtual
    /// table.
    private func isDroppedWithTable(_ object: SchemaObject) -> Bool {
        comparison.droppedTables.contains(renamedSchema.shadowTables.owner(of: object.table) ?? object.table)
    }

    /// True for a view that an expression reads, and that is therefore dropped after the rebuilds.
    private func isReadByExpression(_ view: SchemaObject) -> Bool { view.kind == .view && isRead(view.name) }

    private mutating func renameTables() throws(SQLError) {
        for (old, new) in comparison.renamedTables {
            let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
            let words = "rename the table \(old) to \(new)"
            let updatesReferences = try scratch.rename(old, to: new)
            steps.append(.init(words, updatesReferences ? .renaming(sql) : .renamingAlone(sql)))
            renamedSchema = try scratch.snapshot(orIfNotCopied: renamedSchema)
        }
    }

    /// Renames the columns that SQLite can rename.
    ///
    /// - Returns: The old names of these columns, by the table's name in the target.
    private mutating func renameColumns() throws(SQLError) -> [SQLName: Set<SQLName>] {
        var renamed = [SQLName: Set<SQLName>]()
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
                renamed[table, default: []].insert(old)
                renamedSchema = try scratch.snapshot(orIfNotCopied: renamedSchema)
            }
        }
        return renamed
    }

    /// True if an index, a view or a trigger has to be dropped.
    ///
    /// It is dropped if the target lacks it or defines it differently, or if its table or view is dropped.
    private func isStale(_ object: SchemaObject) -> Bool {
        if differs(object) || isDroppedWithTable(object) { return true }
        // Dropping a view also drops its triggers.
        return object.kind == .trigger && renamedSchema[.view, object.table].map(differs) == true
    }

    /// True if the target lacks an object or defines it differently.
    private func differs(_ object: SchemaObject) -> Bool {
        target[object.kind, object.name].map { !form.areSame($0, object) } ?? true
    }

    /// Adds the steps that add columns to a table, or the step that rebuilds it.
    private mutating func addSteps(
        changing change: TableChange,
        renamed: Set<SQLName>
    ) throws(SQLError) {
        let name = change.new.name
        guard let wanted = target[.table, name] else { return }
        if change.values.isEmpty, let table = renamedSchema[.table, name] {
            if form.areSame(table, wanted) { return }
            if let added = try scratch.stepsAddingColumns(of: change, to: wanted, comparedBy: form) {
                steps += added
                return
            }
        }
        steps.append(.init("rebuild the table \(name)", .rebuild(change.rebuild(afterRenaming: renamed))))
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

    private mutating func addStep(droppingTable table: SQLName) {
        addStep("drop the table \(table)", sql: "DROP TABLE main.\(table.quoted)")
    }

    private mutating func addStep(_ description: String, sql: String) {
        steps.append(.init(description, .statement(sql)))
    }
}

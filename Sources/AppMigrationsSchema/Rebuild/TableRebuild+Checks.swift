internal import AppMigrationsSQLite

extension TableRebuild {
    /// The table to rebuild; throws if it doesn't exist or can't be rebuilt.
    func rebuildableTable(
        in objects: [SchemaObject],
        without shadowTables: ShadowTables,
        on db: some SQLConnection
    ) throws(SQLError) -> SchemaObject {
        let found = objects.first { $0.name == table && ($0.kind == .table || $0.kind == .view) }
        guard let object = found else {
            throw refusal("There is no table of this name", advice: "Correct the name, or create the table")
        }
        if table.isInternal {
            throw refusal("It is a table of SQLite's own", advice: "Choose a table of your own")
        }
        switch try db.rows("PRAGMA main.table_list(\(object.name.quoted))").first?[2] {
        case "view":
            throw refusal("It is a view", advice: "Drop it and create it again, since it holds no rows")
        case "virtual":
            let advice = "Create another one, copy the rows, and drop this one"
            throw refusal("It is a virtual table, whose module keeps its rows", advice: advice)
        default: break
        }
        if let owner = shadowTables.owner(of: table) {
            let problem = "It is a shadow table, in which the virtual table \(owner) keeps its rows"
            throw refusal(problem, advice: "Leave it alone")
        }
        if let assumption = shadowTables.assumption(about: table) {
            throw refusal(
                "By its name it is a shadow table of the virtual table \(assumption.virtualTable), whose statement can't be run"
                    + " in memory to find out: \(assumption.obstacle)",
                advice: SQLError.registrationAdvice(for: assumption.obstacle)
                    ?? "If it is a table of your own, change it with statements in a migration"
            )
        }
        return object
    }

    /// The statement of the new table; throws if it does anything but create a table of the same name.
    func parsedCreateTable(named table: SQLName) throws(SQLError) -> CreateStatement {
        let advice = "Pass CREATE TABLE \(table) with its columns"
        guard let statement = CreateStatement(createTable), statement.kind == .table else {
            throw refusal("The statement of the new table is not a CREATE TABLE statement", advice: advice)
        }
        if statement.isFollowed {
            throw refusal("Another statement follows that of the new table", advice: advice)
        }
        if statement.isTemporary || statement.schema.map({ $0 != SQLName("main") }) == true {
            throw refusal("The new table would not be in the main database", advice: advice)
        }
        if statement.name != table {
            throw refusal("The statement of the new table makes the table \(statement.name)", advice: advice)
        }
        if statement.openingParenthesis == nil {
            throw refusal("The new table would get its rows from a SELECT", advice: advice)
        }
        return statement
    }

    func checkColumns(
        from old: TableShape,
        to new: TableShape,
        reading reads: ExpressionReads
    ) throws(SQLError) {
        for column in old.columns
        where !dropping.contains(column.name) && !reads.columns.contains(column.name) {
            let advice =
                "If it was renamed, use it in an expression in values. If it may be lost, list it in dropping"
            let successor = reusedNames.contains(column.name) ? nil : new[column.name]
            if successor == nil {
                throw refusal("The new table has no column \(column.name)", advice: advice)
            }
            if !column.isGenerated, successor?.isGenerated == true {
                throw refusal(
                    "The values of \(column.name) would be replaced by generated ones",
                    advice: advice
                )
            }
        }
    }

    func checkDropping(
        from old: TableShape,
        to new: TableShape,
        among objects: [SchemaObject]
    ) throws(SQLError) {
        for name in dropping {
            if old[name] != nil {
                guard let column = new[name], !column.isGenerated else { continue }
                throw refusal(
                    "The column \(name) is listed in dropping, but the new table has it",
                    advice:
                        "Remove it from one of the two. If you mean an index, a trigger or a view of this name, drop it with a"
                        + " statement first"
                )
            }
            // A name that doesn't exist is ignored. For example, a database may lack an index because the
            // app's own code once copied the table.
            guard let object = objects.first(where: { $0.name == name }) else { continue }
            let isOwn = object.kind == .view || object.kind != .table && object.table == table
            if !isOwn || object.sql == nil {
                throw refusal(
                    "\(name) is not a column, index, trigger or view that can be dropped with \(table)",
                    advice: "Correct the name, or remove it from dropping"
                )
            }
        }
    }

    /// Refuses a change that would leave a full-text index of the table out of date.
    ///
    /// Triggers keep such an index up to date, and none fires during a rebuild.
    func checkVirtualTables(_ probe: ExpressionProbe, missingColumns: Set<SQLName>) throws(SQLError) {
        let changed = missingColumns.union(values.map(\.column))
        guard let found = try probe.virtualTable(readingAnyOf: changed) else { return }
        throw refusal(
            "The virtual table \(found.name) is filled from the column \(found.column), and would be out of date",
            advice:
                "Drop the virtual table first, and create and fill it again afterwards; or change values with UPDATE,"
                + " which fires triggers"
        )
    }

    func refusal(of index: SchemaObject, because complaint: String, in old: TableShape) -> SQLError {
        refusal(
            "The index \(index.name) would no longer compile: \(complaint)",
            advice: old[index.name] == nil
                ? "List the index in dropping"
                : "Drop it with a statement first, because a column has the same name"
        )
    }

    func checkTriggers(
        _ triggers: [SchemaObject],
        of old: TableShape,
        lacking missingColumns: Set<SQLName>
    ) throws(SQLError) {
        for trigger in triggers {
            for column in try trigger.statement().event?.columns ?? [] where missingColumns.contains(column) {
                throw refusal(
                    "The trigger \(trigger.name) fires on updates of the column \(column), which the new table doesn't have",
                    advice: old[trigger.name] == nil
                        ? "List the trigger in dropping, and create it again afterwards"
                        : "Drop it with a statement first, because a column has the same name"
                )
            }
        }
    }

    /// Refuses two changes of a column without an expression: a new type that can change its values, and NOT
    /// NULL while a row is NULL there.
    func checkKept(from old: TableShape, to new: TableShape, in db: some SQLConnection) throws(SQLError) {
        let strict = new.isStrict && !old.isStrict ? " STRICT" : ""
        for column in new.columns {
            guard let before = keptColumn(for: column, in: old) else { continue }
            if new.canChange(before, of: old, into: column) {
                throw refusal(
                    "The column \(before.name) gets another type, \(column.type)\(strict), which can change its values",
                    advice:
                        "Give an expression in values. The column's name alone, \(before.name.quotedIfNeeded), means"
                        + " SQLite's own conversion"
                )
            }
            let mayBeNull = !before.isNotNull && before.name != old.rowIDAlias
            if !mayBeNull || !column.isNotNull && column.name != new.rowIDAlias { continue }
            let rows = "FROM main.\(old.name.quoted) WHERE \(before.name.quoted) IS NULL"
            let count = try db.number("SELECT count(*) \(rows)")
            if count == 0 { continue }
            let keys = old.keyNames
            let values = try db.rows("SELECT \(keys.joined(separator: ", ")) \(rows) LIMIT 1").first ?? []
            let first = (count == 1 ? "" : "first: ") + old.description(ofKey: keys, values: values)
            let example =
                new.filling(column, from: before.name.quotedIfNeeded).map { ", such as \($0)" } ?? ""
            throw refusal(
                "The column \(before.name) becomes NOT NULL, and the number of rows without a value there is \(count) (\(first))",
                advice: "Give them a value in values\(example)"
            )
        }
    }

    /// The old column whose values a column of the new table keeps without an expression.
    func keptColumn(for column: TableShape.Column, in old: TableShape) -> TableShape.Column? {
        let isUnrelated = column.isGenerated || reusedNames.contains(column.name)
        return isUnrelated || values.contains { $0.column == column.name } ? nil : old[column.name]
    }
}

/// The shape of a new table, read from a temporary table that is created for this purpose and dropped again.
struct TableTrial {
    let shape: TableShape
    /// The columns of the old table that the new one does not have.
    let missingColumns: Set<SQLName>
    /// The first index of the old table that doesn't compile for the new one.
    var broken: (index: SchemaObject, complaint: String)?
}

extension TableRebuild {
    func trial(
        of statement: CreateStatement,
        replacing old: TableShape,
        indexes: [SchemaObject],
        on db: some SQLConnection
    ) throws(SQLError) -> TableTrial {
        try db.takingBack { () throws(SQLError) -> TableTrial in
            for object in try SchemaObject.all(of: db, in: "temp")
            where object.name == statement.name && (object.kind == .table || object.kind == .view) {
                try db.rows("DROP \(object.kind) \(object.qualifiedName)")
            }
            try db.rows(statement.text(in: "temp"))
            let shape = try TableShape(of: statement, in: "temp", db)
            var trial = TableTrial(shape: shape, missingColumns: old.names.subtracting(shape.names))
            for index in indexes where trial.broken == nil && !trial.missingColumns.isEmpty {
                let statement = try index.statement()
                // SQLite would treat the double-quoted name of a dropped column as a string literal, without
                // an error.
                let occurrences = statement.doubleQuotedOccurrences(of: trial.missingColumns)
                let text = statement.text(naming: "temp.app_migrations_trial", replacing: occurrences)
                trial.broken = try db.complaint(about: text).map { (index, $0) }
            }
            return trial
        }
    }
}

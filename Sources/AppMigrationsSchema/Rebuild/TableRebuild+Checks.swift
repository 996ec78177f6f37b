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

    /// The columns and tables that the expressions in `values` read; throws if one of them doesn't compile.
    func readsOfValues(
        using probe: ExpressionProbe,
        on db: some SQLConnection
    ) throws(SQLError) -> ExpressionReads {
        var reads = ExpressionReads()
        for (column, expression) in values {
            switch try probe.analyze(expression, on: db) {
            case .reads(let more): reads.formUnion(more)
            case .complaint(let complaint):
                throw refusal(
                    "The value for \(column) \(complaint)",
                    advice: SQLError.advice("Correct the values argument", forExpressionFailing: complaint)
                )
            }
        }
        return reads
    }

    /// Refuses to lose the values of a column that no expression reads and that isn't listed in `dropping`.
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

    /// Refuses a name in `dropping` if the new table has a column of that name, or if it is the name of an
    /// object that can't be dropped with the table.
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
    /// Triggers keep such an index up to date, and none fires during a rebuild. `changedColumns` are the
    /// columns that change without an expression in `values`.
    func checkVirtualTables(_ probe: ExpressionProbe, changedColumns: Set<SQLName>) throws(SQLError) {
        let changed = changedColumns.union(values.map(\.column))
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

    /// Throws if a trigger is declared with `UPDATE OF` a column that the new table doesn't have.
    func checkTriggers(
        _ triggers: [SchemaObject],
        of old: TableShape,
        lacking removedColumnNames: Set<SQLName>
    ) throws(SQLError) {
        for trigger in triggers {
            let columns = try trigger.statement().event?.columns ?? []
            for column in columns where removedColumnNames.contains(column) {
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
    func checkKeptColumns(
        from old: TableShape,
        to new: TableShape,
        in db: some SQLConnection
    ) throws(SQLError) {
        for column in new.columns {
            guard let before = keptColumn(for: column, in: old) else { continue }
            if new.canChange(before, of: old, into: column) {
                let isSameType = old.affinity(of: before) == new.affinity(of: column)
                let strict = new.isStrict && !old.isStrict ? " STRICT" : ""
                throw refusal(
                    isSameType
                        ? "The table becomes STRICT, so it refuses each value of the column \(before.name) that isn't"
                            + " \(column.type)"
                        : "The column \(before.name) gets another type, \(column.type)\(strict), which can change its"
                            + " values",
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
            let row = (count == 1 ? "" : "first: ") + old.description(ofKey: keys, values: values)
            let nonNull = new.nonNullExpression(for: column, from: before.name.quotedIfNeeded)
            let example = nonNull.map { ", such as \($0)" } ?? ""
            throw refusal(
                "The column \(before.name) becomes NOT NULL, and the number of rows without a value there is \(count) (\(row))",
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

extension TableRebuild {
    /// The table in the schema, where it is one that can be made anew.
    func object(in objects: [SchemaObject], _ db: some SQLConnection) throws(SQLError) -> SchemaObject {
        let found = objects.first { $0.name == table && ($0.kind == .table || $0.kind == .view) }
        guard let object = found else {
            throw refusal("There is no table of this name", "Correct the name, or create the table")
        }
        if object.kind == .view {
            throw refusal("It is a view", "Drop it and create it again, since it holds no rows")
        }
        if table.isInternal { throw refusal("It is a table of SQLite's own", "Choose a table of your own") }
        if try object.statement().kind == .virtualTable {
            throw refusal(
                "It is a virtual table, whose module keeps its rows",
                "Create another one, copy the rows, and drop this one"
            )
        }
        if try db.rows("PRAGMA main.table_list(\(object.name.quoted))").first?[2] == "shadow" {
            throw refusal("It is a shadow table, in which a virtual table keeps its rows", "Leave it alone")
        }
        return object
    }

    /// The statement of the new table, which makes a table of the same name and nothing else.
    func newStatement(for table: SQLName) throws(SQLError) -> CreateStatement {
        let advice = "Pass CREATE TABLE \(table) with its columns"
        guard let statement = CreateStatement(createTable), statement.kind == .table else {
            throw refusal("The statement of the new table is no CREATE TABLE", advice)
        }
        if statement.isFollowed { throw refusal("More follows the statement of the new table", advice) }
        if statement.isTemporary || statement.schema.map({ $0 != SQLName("main") }) == true {
            throw refusal("The new table would not be in the main database", advice)
        }
        if statement.name != table {
            throw refusal("The statement of the new table makes the table \(statement.name)", advice)
        }
        if statement.openingParenthesis == nil {
            throw refusal("The new table would get its rows from a SELECT", advice)
        }
        return statement
    }

    func check(_ old: TableShape, _ new: TableShape, _ objects: [SchemaObject]) throws(SQLError) {
        let used = usedColumns()
        for column in old.columns where !dropping.contains(column.name) {
            let advice = "Use it in values: if it gets another name, or name it in dropping:"
            if new[column.name] == nil, !used.contains(column.name) {
                throw refusal("The new table has no column \(column.name)", advice)
            }
            if !column.isGenerated, new[column.name]?.isGenerated == true, !used.contains(column.name) {
                throw refusal("The values of \(column.name) would be replaced by generated ones", advice)
            }
        }
        for name in dropping {
            if let column = new[name], !column.isGenerated, old[name] != nil {
                throw refusal(
                    "The column \(name) is to be dropped, and the new table has it",
                    "Take it out of one of the two"
                )
            }
            let isObject = objects.contains { object in
                guard object.name == name, object.sql != nil else { return false }
                return object.kind == .view || object.kind != .table && object.table == table
            }
            if old[name] == nil, !isObject {
                throw refusal(
                    "There is no column, index, trigger or view \(name) to drop",
                    "Correct the name, or take it out of dropping:"
                )
            }
        }
    }

    /// Every column that the expressions use.
    private func usedColumns() -> Set<SQLName> {
        values.reduce(into: []) { $0.formUnion(SQLTokens($1.expression).columns(of: [table])) }
    }

    func checkIndexes(_ indexes: [SchemaObject], _ gone: Set<SQLName>) throws(SQLError) {
        for index in indexes {
            let used = try index.statement().indexedNames
            guard let name = used.first(where: { gone.contains($0) }) else { continue }
            throw refusal(
                "The index \(index.name) uses the column \(name), which goes",
                "Name the index in dropping:"
            )
        }
    }

    func checkTriggers(_ triggers: [SchemaObject], _ gone: Set<SQLName>) throws(SQLError) {
        for trigger in triggers {
            for column in try trigger.statement().event?.columns ?? [] where gone.contains(column) {
                throw refusal(
                    "The trigger \(trigger.name) waits for updates of the column \(column), which goes",
                    "Name the trigger in dropping:, and make it anew afterwards"
                )
            }
        }
    }

    /// Refuses rows without a value where the new table wants one.
    func checkNulls(_ old: TableShape, _ new: TableShape, in db: some SQLConnection) throws(SQLError) {
        var tightened = [SQLName]()
        for column in new.columns where column.isNotNull || column.name == new.rowIDAlias {
            guard let before = old[column.name], !values.contains(where: { $0.column == column.name }),
                !column.isGenerated, !before.isNotNull, before.name != old.rowIDAlias
            else { continue }
            tightened.append(before.name)
        }
        if tightened.isEmpty { return }
        let counts = tightened.map { "total(\($0.quoted) IS NULL)" }.joined(separator: ", ")
        let row = try db.rows("SELECT \(counts) FROM main.\(old.name.quoted)").first ?? []
        for (column, count) in zip(tightened, row) {
            guard case .real(let count) = count, count > 0 else { continue }
            throw refusal(
                "The column \(column) becomes NOT NULL, and rows without a value there are \(Int64(count))",
                "Give one in values:, such as coalesce(\(column), '')"
            )
        }
    }
}

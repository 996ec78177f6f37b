internal import AppMigrationsSQLite

extension TableCopy {
    /// The statements of ``run(_:)``, to be read or run in a shell.
    ///
    /// They depend only on the schema. Counting the rows and `ANALYZE` depend on the rows, so they are left
    /// out. Temporary triggers are left out, too, because they belong to one connection.
    ///
    /// - Parameters:
    ///   - stash: The name of the table that has the old rows.
    ///   - isMovedAside: True if the old table is renamed to `stash`; false if its rows are copied into a
    ///     table of that name.
    /// - Returns: The statements in order, without semicolons.
    /// - Throws: `SQLError` for a `CREATE` statement in the schema that can't be read.
    func statements(stash: String, isMovedAside: Bool) throws(SQLError) -> [String] {
        var statements = [String]()
        for trigger in droppedTriggers { statements.append("DROP TRIGGER \(trigger.qualifiedName)") }
        if isMovedAside {
            statements += SchemaTransaction.legacyRenamingScript(renameStatement(to: stash))
            for index in indexes { statements.append("DROP INDEX \(index.qualifiedName)") }
        } else {
            statements += stashStatements(to: stash)
            if old.hasAutoincrement {
                // Otherwise SQLite would delete the counter with the table.
                statements.append(
                    "UPDATE main.sqlite_sequence SET name = '\(stash)' WHERE name = \(SQLValue.text(table.text))"
                )
            }
            statements.append("DROP TABLE main.\(table.quoted)")
        }
        statements.append(rebuild.createTable)
        statements.append(fillStatement(from: stash, isMovedAside: isMovedAside))
        if old.hasAutoincrement, new.hasAutoincrement {
            statements += AutoincrementCounter.statements(raising: new.name, toCounterOf: SQLName(stash))
        }
        for index in indexes { statements.append(try index.statement().text(in: "main")) }
        statements.append("DROP TABLE main.\(stash)")
        if old.hasAutoincrement, !isMovedAside {
            statements.append("DELETE FROM main.sqlite_sequence WHERE name = '\(stash)'")
        }
        for view in droppedViews { statements.append("DROP VIEW \(view.qualifiedName)") }
        for trigger in triggers where trigger.schema == "main" {
            statements.append(try trigger.statement().text(in: "main"))
        }
        return statements
    }
}

internal import AppMigrationsSQLite

extension TableCopy {
    /// The statements of ``run(_:)`` for a person to read, or for a shell.
    ///
    /// They depend on the schema alone and not on rows. What depends on rows is left out: the count of the
    /// rows and `ANALYZE`. Temporary triggers are those of a connection, so they are left out, too.
    ///
    /// - Parameters:
    ///   - stash: The name of the table that has the old rows.
    ///   - isMovedAside: True if the old table gets that name, false if its rows are copied there.
    /// - Returns: The statements in order, without semicolons.
    /// - Throws: `SQLError` for a `CREATE` statement in the schema that can't be read.
    func statements(stash: String, isMovedAside: Bool) throws(SQLError) -> [String] {
        var statements = [String]()
        for trigger in belongingTriggers { statements.append("DROP TRIGGER \(trigger.qualifiedName)") }
        if isMovedAside {
            statements += SchemaTransaction.withLegacyRenaming(renaming(to: stash))
            for index in indexes { statements.append("DROP INDEX \(index.qualifiedName)") }
        } else {
            statements += copying(to: stash)
            if old.hasAutoincrement {
                // Else the number would be deleted with the table.
                statements.append(
                    "UPDATE main.sqlite_sequence SET name = '\(stash)' WHERE name = \(SQLValue.text(table.text))"
                )
            }
            statements.append("DROP TABLE main.\(table.quoted)")
        }
        statements.append(rebuild.createTable)
        statements.append(filling(from: stash, isMovedAside: isMovedAside))
        if old.hasAutoincrement, new.hasAutoincrement {
            statements += AutoincrementCounter.raising(of: new.name, toThatOf: SQLName(stash))
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

internal import AppMigrationsSQL

/// What the database says of the store's table.
extension SQLFleetStatements {
    /// Whether a statement failed since there is no table.
    ///
    /// A table with other columns is refused: another tool's, or one of the app's.
    nonisolated(nonsending) func isMissing(
        on db: some AsyncSQLConnection,
        after cause: any Error
    ) async throws -> Bool {
        let found: [SQLValue]
        do {
            found = try await columns(on: db)
        } catch {
            // The connection is gone, and the first error says why.
            throw cause
        }
        if found.isEmpty { return true }
        if Self.columns.allSatisfy(found.contains) { return false }
        let names = found.map { if case .text(let name) = $0 { name } else { "\($0)" } }
        throw SQLError(
            .foreignLedger,
            "The table \(name) is another tool's: it has the columns \(names.joined(separator: ", "))"
                + ", and not name, revision and document. Nothing was written. Give the store another table:"
        )
    }

    /// Throws where the name leads past the table in which there may be a document: it would be a first run for data that is there.
    nonisolated(nonsending) func requireVisible(on db: some AsyncSQLConnection) async throws {
        guard isPostgres, parts.count == 1, let last = parts.first else { return }
        // The name of a table that another host has just made may be found a moment after the table itself.
        let schemas = try await db.query(
            """
            SELECT relnamespace::regnamespace::text, relpersistence::text FROM pg_class \
            WHERE relname = $1 AND relkind IN ('r', 'p') AND CASE WHEN to_regclass($2) IS NULL \
            THEN relpersistence <> 't' AND NOT pg_table_is_visible(oid) \
            ELSE oid = to_regclass($2) AND relpersistence = 't' END ORDER BY 1 LIMIT 1
            """,
            [.text(last.text), .text(table)]
        )
        guard let found = schemas.first, found.count == 2 else { return }
        if found[1] == "t" {
            throw SQLError(
                .statementFailed,
                "A temporary table hides the table \(name) of the fleet's store. Nothing was written. Drop it, or name the "
                    + "store's table with its schema"
            )
        }
        let schema = if case .text(let text) = found[0] { text } else { "\(found[0])" }
        throw SQLError(
            .statementFailed,
            "The connection's search_path leads to no table \(name), and the schema \(schema) has one. Nothing was written. "
                + "Name the store's table with its schema, also where it is to be a new one"
        )
    }

    nonisolated(nonsending) private func columns(on db: some AsyncSQLConnection) async throws -> [SQLValue] {
        if isPostgres {
            let sql = """
                SELECT attname::text FROM pg_attribute \
                WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
                """
            return try await db.query(sql, [.text(table)]).compactMap(\.first)
        }
        let arguments = parts.reversed().prefix(2).map { SQLValue.text($0.text) }
        let places = arguments.indices.map { place($0 + 1) }.joined(separator: ", ")
        return try await db.query("SELECT name FROM pragma_table_info(\(places))", arguments)
            .compactMap(\.first)
    }
}

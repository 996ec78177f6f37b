internal import AppMigrations
internal import AppMigrationsSQL

/// The statements of ``PostgresFleetStore`` on its table.
///
/// It is a class because a start copies its store, and one reference is cheaper to copy than all these texts.
final class FleetTable: Sendable {
    private let name: String
    /// The table's name, if it was given without a schema; otherwise `nil`.
    private let unqualifiedName: String?
    private let selectSQL: String
    /// The SQL that finds the server's process whose open transaction has locked the row of a manager.
    let blockerSQL: String

    init(_ table: String) {
        let parts = table.split(separator: ".", omittingEmptySubsequences: false).map { SQLName(String($0)) }
        name = parts.map(\.quoted).joined(separator: ".")
        unqualifiedName = parts.count == 1 ? parts[0].text : nil
        selectSQL = """
            SELECT revision, document, pg_is_in_recovery()::int \
            FROM (VALUES ($1::text)) AS wanted(name) LEFT JOIN \(name) AS held USING (name)
            """
        // The xmax of a row is the open transaction that has locked or changed it.
        blockerSQL = """
            SELECT pid::text FROM \(name) AS held JOIN pg_locks ON transactionid = held.xmax
            WHERE name = $1 AND mode = 'ExclusiveLock' AND granted
            """
    }

    nonisolated(nonsending) func document(
        named name: String,
        on db: some AsyncSQLConnection
    ) async throws -> FleetDocument? {
        guard let rows = try await rows(of: selectSQL, arguments: [.text(name)], on: db) else { return nil }
        if let row = rows.first, row.count == 3, row[2].number != 0 { throw Self.standbyError }
        if rows.count == 1, rows[0].first == .null {
            // Throws if the rows may be in another table.
            _ = try await tableExists(on: db)
            return nil
        }
        guard rows.count == 1, rows[0].count == 3, let revision = rows[0][0].number,
            case .text(let text) = rows[0][1]
        else {
            throw SQLError(.ledgerUnreadable, "The table \(self.name) has a row that can't be read: \(rows)")
        }
        return FleetDocument(bytes: Array(text.utf8), revision: FleetRevision(revision))
    }

    /// The error for a connection that leads to a standby server.
    ///
    /// What a standby says may be old. The query for it calls `pg_is_in_recovery()`, which is volatile. So a
    /// pool that sends reads to a standby, such as pgpool-II, sends this one to the primary server.
    private static var standbyError: SQLError {
        SQLError(
            .readOnly,
            "The connection of the store leads to a standby server, whose data may be old. Connect to the primary server"
        )
    }

    /// Replaces a document.
    ///
    /// If another transaction has locked its row, this waits if `waitsForLock` is true, and otherwise returns
    /// `nil`.
    ///
    /// Outside of this library's transactions locked rows are skipped, because a waiting statement could not
    /// be cancelled, and its wait could not be reported.
    nonisolated(nonsending) func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8],
        waitsForLock: Bool = false,
        on db: some AsyncSQLConnection
    ) async throws -> FleetRevision? {
        guard let text = String(validUTF8: document), !document.contains(0) else {
            throw SQLError(
                .statementFailed,
                "The document was not saved, because it is not valid UTF-8 or contains NUL"
            )
        }
        guard let revision else {
            return try await insert(name: .text(name), document: .text(text), on: db)
        }
        // The revisions of this store are numbers, so another revision can't match.
        guard let number = Int64(revision.description) else { return nil }
        let row = "name = $1 AND revision = $2"
        let lock = "FOR UPDATE\(waitsForLock ? "" : " SKIP LOCKED")"
        let update = """
            UPDATE \(self.name) AS held SET revision = revision + $4, document = $3 WHERE \(row) \
            AND name = (SELECT name FROM \(self.name) WHERE \(row) \(lock)) \
            AND \(Self.isPermanentSQL) AND \(Self.durableCommitSQL) RETURNING revision
            """
        let arguments: [SQLValue] = [.text(name), .integer(number), .text(text), .integer(Self.step)]
        guard let rows = try await rows(of: update, arguments: arguments, on: db) else { return nil }
        if let next = rows.first?.first?.number { return FleetRevision(next) }
        // Throws if the rows may be in another table.
        _ = try await tableExists(on: db)
        return nil
    }

    /// The number that is added to a revision.
    ///
    /// It is random, because revisions can go back: after a rollback, after a server has restarted without
    /// its last commits, or after a backup was restored.
    ///
    /// With a step of one, a former holder of the lease could find the revision that it remembers on the
    /// document of another host.
    private static var step: Int64 { Int64.random(in: 1...(1 << 31)) }

    /// A condition that is false for a row of a temporary table.
    ///
    /// A temporary table hides the permanent table of the same name, unless a schema is given. It is dropped
    /// at the end of the session.
    private static var isPermanentSQL: String {
        "(SELECT relpersistence FROM pg_class WHERE oid = held.tableoid) <> 't'"
    }

    /// A condition that is always true.
    ///
    /// It makes the server write the commit to disk before it answers.
    ///
    /// With synchronous_commit=off, a server that crashes may lose a lease whose holder is still running. The
    /// next holder would then get the same fence. The value is "local", because with "on" the server would
    /// also wait for standby servers.
    private static var durableCommitSQL: String {
        "(SELECT set_config('synchronous_commit', 'local', true) WHERE current_setting('synchronous_commit') = 'off')"
            + " IS DISTINCT FROM ''"
    }

    nonisolated(nonsending) private func insert(
        name key: SQLValue,
        document: SQLValue,
        on db: some AsyncSQLConnection
    ) async throws -> FleetRevision? {
        // Check for the table first. Otherwise the row could be written to a temporary table of the same
        // name.
        if try await !tableExists(on: db) { try await create(on: db) }
        let sql = """
            INSERT INTO \(name) (name, revision, document) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING RETURNING revision
            """
        // Begin at a random revision. If somebody deletes the row, and it is created again, a stalled host
        // must not find its old revision there.
        let first = SQLValue.integer(Int64.random(in: 1...(1 << 52)))
        let rows = try await rows(of: sql, arguments: [key, first, document], on: db)
        return rows?.first?.first?.number.map { FleetRevision($0) }
    }

    /// Creates the table, unless another host has just created it.
    ///
    /// The table is looked for and created under a lock. Otherwise hosts whose search_path differs could
    /// create a table each, in different schemas.
    nonisolated(nonsending) private func create(on db: some AsyncSQLConnection) async throws {
        let table =
            unqualifiedName.map { "relname = \(SQLValue.text($0))" }
            ?? "oid = to_regclass(\(SQLValue.text(name)))"
        let body = SQLValue.text(
            """
            BEGIN
                PERFORM pg_advisory_xact_lock(\(PostgresLock.ofNewStores.number));
                IF NOT EXISTS (SELECT FROM pg_class WHERE \(table) AND relkind IN ('r', 'p') AND relpersistence <> 't') THEN
                    CREATE TABLE \(name) (name TEXT NOT NULL PRIMARY KEY, revision BIGINT NOT NULL, document TEXT NOT NULL);
                END IF;
            END
            """
        )
        var failure: (any Error)?
        do { try await db.query("DO \(body)") } catch { failure = error }
        if try await !tableExists(on: db, after: failure), let failure { throw failure }
    }

    /// Returns the rows of a statement; `nil` if there is no table.
    private nonisolated(nonsending) func rows<Connection: AsyncSQLConnection>(
        of sql: String,
        arguments: [SQLValue],
        on db: Connection
    ) async throws -> [[SQLValue]]? {
        do { return try await db.query(sql, arguments) } catch {
            // 42P01 is undefined_table, 42703 is undefined_column. If the error has no SQLSTATE, a query
            // finds out whether the table exists.
            let state = (error as? SQLError)?.sqlState ?? Connection.serverError(from: error)?.sqlState
            if let state, !["42P01", "42703"].contains(state) { throw error }
            if try await !tableExists(on: db, after: error) { return nil }
        }
        // The table exists now: another host may have created it just after the statement failed.
        return try await db.query(sql, arguments)
    }

    /// True if the store's table exists.
    ///
    /// This is a single statement, because a pooler may run each statement in another session.
    ///
    /// Throws if the table belongs to another tool. Also throws if the search_path finds no such table, but
    /// another schema has one: that table may have the document, and creating a new table would be a first
    /// run for existing data.
    nonisolated(nonsending) private func tableExists(
        on db: some AsyncSQLConnection,
        after cause: (any Error)? = nil
    ) async throws -> Bool {
        let rows: [[SQLValue]]
        do {
            rows = try await db.query(
                """
                SELECT string_agg(attname::text, ', ' ORDER BY attnum), \
                (SELECT min(relnamespace::regnamespace::text) FROM pg_class WHERE relname = $2 AND relkind IN ('r', 'p') \
                AND relpersistence <> 't' AND NOT pg_table_is_visible(oid)) \
                FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped \
                WHERE pg_class.oid = to_regclass($1) AND relpersistence <> 't'
                """,
                [.text(name), unqualifiedName.map(SQLValue.text) ?? .null]
            )
        } catch {
            // The connection is gone, and the first error says why.
            throw cause ?? error
        }
        guard let row = rows.first, row.count == 2 else {
            throw SQLError(
                .statementFailed,
                "The query for the columns of the table \(name) returned an unexpected result: \(rows)"
            )
        }
        if case .text(let columns) = row[0] {
            let found = columns.split(separator: ", ")
            if ["name", "revision", "document"].allSatisfy(found.contains) { return true }
            throw SQLError(
                .statementFailed,
                "The table \(name) belongs to another tool: it has the columns \(columns), and not name, revision and document."
                    + " Nothing was written. Give the store another table (table:)"
            )
        }
        guard unqualifiedName != nil, case .text(let schema) = row[1] else { return false }
        throw SQLError(
            .statementFailed,
            "The connection's search_path has no permanent table \(name), but the schema \(schema) has one. Nothing was "
                + "written. Pass the table's name with its schema (table:), even if you want a new table"
        )
    }
}

internal import AppMigrations
internal import AppMigrationsSQL

/// The statements of ``PostgresFleetStore`` on its table.
///
/// It is a class because a start copies its store, and one reference is cheaper to copy than all these texts.
final class FleetTable: Sendable {
    private let name: String
    /// The table's own name, where no schema is named.
    private let bare: String?
    private let select: String
    /// The server's process whose open transaction has the row of a manager.
    let blocker: String

    init(_ table: String) {
        let parts = table.split(separator: ".", omittingEmptySubsequences: false).map { SQLName(String($0)) }
        name = parts.map(\.quoted).joined(separator: ".")
        bare = parts.count == 1 ? parts[0].text : nil
        select = "SELECT revision, document FROM \(name) WHERE name = $1"
        // The xmax of a row is the open transaction that has locked or changed it.
        blocker = """
            SELECT pid::text FROM \(name) AS held JOIN pg_locks ON transactionid = held.xmax
            WHERE name = $1 AND mode = 'ExclusiveLock' AND granted
            """
    }

    nonisolated(nonsending) func document(
        named name: String,
        on db: some AsyncSQLConnection
    ) async throws -> FleetDocument? {
        guard let rows = try await rows(of: select, [.text(name)], on: db) else { return nil }
        guard let row = rows.first else {
            _ = try await isThere(on: db)
            return nil
        }
        guard rows.count == 1, row.count == 2, let revision = row[0].number, case .text(let text) = row[1]
        else {
            throw SQLError(.ledgerUnreadable, "The table \(self.name) has a row that can't be read: \(rows)")
        }
        return FleetDocument(bytes: Array(text.utf8), revision: FleetRevision(revision))
    }

    /// Replaces a document; `isWaiting` waits for a row that another transaction has locked, instead of
    /// passing it over.
    ///
    /// Outside of a transaction of this library a row that is locked is passed over: a waiting statement
    /// could be neither cancelled nor told of.
    nonisolated(nonsending) func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8],
        isWaiting: Bool = false,
        on db: some AsyncSQLConnection
    ) async throws -> FleetRevision? {
        guard let text = String(validUTF8: document), !document.contains(0) else {
            throw SQLError(.statementFailed, "A document is text as UTF-8 without NUL")
        }
        guard let revision else { return try await insert(.text(name), .text(text), on: db) }
        // A revision that no store of this kind gave stands nowhere.
        guard let number = Int64(revision.description) else { return nil }
        let row = "name = $1 AND revision = $2"
        let lock = "FOR UPDATE\(isWaiting ? "" : " SKIP LOCKED")"
        let update = """
            UPDATE \(self.name) AS held SET revision = revision + $4, document = $3 WHERE \(row) \
            AND name = (SELECT name FROM \(self.name) WHERE \(row) \(lock)) AND \(Self.lasting) AND \(Self.durable) \
            RETURNING revision
            """
        let arguments: [SQLValue] = [.text(name), .integer(number), .text(text), .integer(Self.step)]
        guard let rows = try await rows(of: update, arguments, on: db) else { return nil }
        if let next = rows.first?.first?.number { return FleetRevision(next) }
        _ = try await isThere(on: db)
        return nil
    }

    /// Random: a rollback, a server that comes up again without its last commits and a backup all take
    /// revisions back.
    ///
    /// Counted by ones, the revision that its former holder remembers would come again and be another host's.
    private static var step: Int64 { Int64.random(in: 1...(1 << 31)) }

    /// A temporary table hides one without a schema, and ends with the session.
    private static var lasting: String {
        "(SELECT relpersistence FROM pg_class WHERE oid = held.tableoid) <> 't'"
    }

    /// A condition that always holds, and has the server write the commit before it answers.
    ///
    /// With synchronous_commit=off a server that crashes forgets a lease whose holder is at work, and gives
    /// its fence to the next one. "on" would also wait for standby servers.
    private static var durable: String {
        "(SELECT set_config('synchronous_commit', 'local', true) WHERE current_setting('synchronous_commit') = 'off')"
            + " IS DISTINCT FROM ''"
    }

    nonisolated(nonsending) private func insert(
        _ key: SQLValue,
        _ document: SQLValue,
        on db: some AsyncSQLConnection
    ) async throws -> FleetRevision? {
        // Asked first: a temporary table would take the row.
        if try await !isThere(on: db) { try await create(on: db) }
        let sql = """
            INSERT INTO \(name) (name, revision, document) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING RETURNING revision
            """
        // Begin at a random revision: if the row is removed by hand and made anew, a stalled host mustn't
        // meet its old one.
        let first = SQLValue.integer(Int64.random(in: 1...(1 << 52)))
        let rows = try await rows(of: sql, [key, first, document], on: db)
        return rows?.first?.first?.number.map { FleetRevision($0) }
    }

    /// Makes the table; of two hosts that do it at once one may fail, and finds the table of the other.
    nonisolated(nonsending) private func create(on db: some AsyncSQLConnection) async throws {
        var failure: (any Error)?
        do {
            try await db.query(
                """
                CREATE TABLE IF NOT EXISTS \(name) \
                (name TEXT NOT NULL PRIMARY KEY, revision BIGINT NOT NULL, document TEXT NOT NULL)
                """
            )
        } catch { failure = error }
        if try await !isThere(on: db, after: failure), let failure { throw failure }
    }

    /// The rows of a statement; `nil` where there is no table.
    private nonisolated(nonsending) func rows<Connection: AsyncSQLConnection>(
        of sql: String,
        _ arguments: [SQLValue],
        on db: Connection
    ) async throws -> [[SQLValue]]? {
        do { return try await db.query(sql, arguments) } catch {
            // undefined_table, undefined_column. A connection that doesn't tell is asked.
            let state = (error as? SQLError)?.sqlState ?? Connection.serverError(from: error)?.sqlState
            if let state, !["42P01", "42703"].contains(state) { throw error }
            if try await !isThere(on: db, after: error) { return nil }
        }
        // Another host may have been making the table when the statement looked for it.
        return try await db.query(sql, arguments)
    }

    /// True if there is a table under the store's name; one statement, since a pooler gives each to another
    /// session.
    ///
    /// Throws where it is another tool's, and where the name leads past the table in which there may be a
    /// document: it would be a first run for data that is there.
    nonisolated(nonsending) private func isThere(
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
                [.text(name), bare.map(SQLValue.text) ?? .null]
            )
        } catch {
            // The connection is gone, and the first error says why.
            throw cause ?? error
        }
        guard let row = rows.first, row.count == 2 else {
            throw SQLError(.statementFailed, "Reading about the table \(name) returned \(rows)")
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
        guard bare != nil, case .text(let schema) = row[1] else { return false }
        throw SQLError(
            .statementFailed,
            "The connection's search_path has no permanent table \(name), but the schema \(schema) has one. Nothing was "
                + "written. Name the store's table with its schema, even if it is to be a new one"
        )
    }
}

internal import AppMigrations
internal import AppMigrationsPostgreSQL

/// What a store says to a database.
///
/// A class, since a start copies its store, and one reference is less to copy than all of this.
final class SQLFleetStatements: Sendable {
    let isPostgres: Bool
    private let dialect: SQLDialect
    /// The parts of the table's name.
    let parts: [SQLName]
    /// The name as it stands in a statement.
    let table: String
    /// The name as the store was given it.
    let name: String
    private let select: String

    static var columns: [SQLValue] { ["name", "revision", "document"] }

    init(_ dialect: SQLDialect, table: String) {
        self.dialect = dialect
        isPostgres = dialect == .postgres
        let given = table.split(separator: ".", omittingEmptySubsequences: false).map { SQLName(String($0)) }
        // A temporary table of SQLite hides one without a schema.
        parts = given.count == 1 && dialect != .postgres ? [SQLName("main")] + given : given
        name = given.map(\.quoted).joined(separator: ".")
        self.table = parts.map(\.quoted).joined(separator: ".")
        select = "SELECT revision, document FROM \(self.table) WHERE name = \(isPostgres ? "$1" : "?1")"
    }

    func place(_ number: Int) -> String { isPostgres ? "$\(number)" : "?\(number)" }

    func speaks(_ other: SQLDialect) -> Bool { dialect == other }

    /// A text of PostgreSQL holds no NUL.
    private func key(_ name: String) -> SQLValue {
        guard name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "%") }) else { return .text(name) }
        var key = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\0": key += "%00"
            case "%": key += "%25"
            default: key.unicodeScalars.append(scalar)
            }
        }
        return .text(key)
    }

    nonisolated(nonsending) func read(
        _ name: String,
        on db: some AsyncSQLConnection
    ) async throws -> FleetDocument? {
        let rows = try await rows(of: select, [key(name)], on: db) ?? []
        guard let row = rows.first else {
            try await requireVisible(on: db)
            return nil
        }
        guard rows.count == 1, row.count == 2, let revision = Self.number(row[0]),
            let document = Self.bytes(row[1])
        else {
            throw SQLError(.ledgerUnreadable, "The table \(name) has a row that can't be read: \(rows)")
        }
        return FleetDocument(bytes: document, revision: FleetRevision(revision))
    }

    nonisolated(nonsending) func replace(
        _ name: String,
        at revision: FleetRevision?,
        with document: [UInt8],
        on db: some AsyncSQLConnection
    ) async throws -> FleetRevision? {
        guard let text = String(validUTF8: document), !document.contains(0) else {
            throw SQLError(.statementFailed, "A document is text as UTF-8 without NUL")
        }
        guard let revision else { return try await insert(name, text, on: db) }
        // What no store of this kind gave stands nowhere.
        guard let number = Int64(revision.description) else { return nil }
        do {
            let arguments: [SQLValue] = [key(name), .integer(number), .text(text), .integer(Self.step)]
            if let next = try Self.revision(try await db.query(update, arguments)) { return next }
        } catch {
            guard try await isMissing(on: db, after: error) else { throw error }
        }
        try await requireVisible(on: db)
        return nil
    }

    /// How far the next revision lies.
    ///
    /// A rollback, a server that comes up again without its last commits and a backup all take revisions back. Counted
    /// by ones, the revision that its former holder remembers would come again and be another host's.
    private static var step: Int64 { Int64.random(in: 1...(1 << 31)) }

    /// A row that a transaction has locked is passed over instead of being waited for: its host is alive, and a waiting statement
    /// could be neither cancelled nor told of.
    private var update: String {
        let row = "name = \(place(1)) AND revision = \(place(2))"
        let set =
            "UPDATE \(table) AS held SET revision = revision + \(place(4)), document = \(place(3)) WHERE \(row)"
        let free = "name = (SELECT name FROM \(table) WHERE \(row) FOR UPDATE SKIP LOCKED)"
        return set + (isPostgres ? " AND \(free) AND \(Self.lasting) AND \(Self.durable)" : "")
            + " RETURNING revision"
    }

    /// A temporary table hides one without a schema, and ends with the session.
    private static var lasting: String {
        "(SELECT relpersistence FROM pg_class WHERE oid = held.tableoid) <> 't'"
    }

    /// A condition that always holds, and has the server write the commit before it answers.
    ///
    /// With synchronous_commit=off a server that crashes forgets a lease whose holder is at work, and gives its fence to the next
    /// one. "on" would also wait for standby servers.
    private static var durable: String {
        "(SELECT set_config('synchronous_commit', 'local', true) WHERE current_setting('synchronous_commit') = 'off')"
            + " IS DISTINCT FROM ''"
    }

    nonisolated(nonsending) private func insert(
        _ name: String,
        _ document: String,
        on db: some AsyncSQLConnection
    ) async throws -> FleetRevision? {
        try await requireVisible(on: db)
        // Anywhere: were the row removed by hand and made anew, a host that stalled since must not meet its old revision.
        let first = SQLValue.integer(Int64.random(in: 1...(1 << 52)))
        let sql = """
            INSERT INTO \(table) (name, revision, document) VALUES (\(place(1)), \(place(2)), \(place(3))) \
            ON CONFLICT (name) DO NOTHING RETURNING revision
            """
        if let rows = try await rows(of: sql, [key(name), first, .text(document)], on: db) {
            return try Self.revision(rows)
        }
        try await create(on: db)
        return try Self.revision(try await db.query(sql, [key(name), first, .text(document)]))
    }

    /// Makes the table; of two hosts that do it at once one may fail, and finds the table of the other.
    nonisolated(nonsending) private func create(on db: some AsyncSQLConnection) async throws {
        do {
            try await db.query(
                """
                CREATE TABLE IF NOT EXISTS \(table) \
                (name TEXT NOT NULL PRIMARY KEY, revision BIGINT NOT NULL, document TEXT NOT NULL)
                """
            )
        } catch {
            if try await isMissing(on: db, after: error) { throw error }
        }
    }

    /// The rows of a statement; `nil` where there is no table.
    private nonisolated(nonsending) func rows(
        of sql: String,
        _ arguments: [SQLValue],
        on db: some AsyncSQLConnection
    ) async throws -> [[SQLValue]]? {
        do {
            return try await db.query(sql, arguments)
        } catch {
            if try await isMissing(on: db, after: error) { return nil }
        }
        // The table is there now, and another host may have been making it when the statement looked for it.
        return try await db.query(sql, arguments)
    }

    private static func revision(_ rows: [[SQLValue]]) throws -> FleetRevision? {
        guard let row = rows.first else { return nil }
        guard rows.count == 1, let value = row.first, let number = number(value) else {
            throw SQLError(.statementFailed, "RETURNING gave no revision: \(rows)")
        }
        return FleetRevision(number)
    }

    private static func number(_ value: SQLValue) -> Int64? {
        switch value {
        case .integer(let number): number
        case .text(let text): Int64(text)
        default: nil
        }
    }

    private static func bytes(_ value: SQLValue) -> [UInt8]? {
        switch value {
        case .text(let text): Array(text.utf8)
        case .blob(let bytes): bytes
        default: nil
        }
    }
}

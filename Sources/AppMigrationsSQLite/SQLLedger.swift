/// The table `schema_migrations` of a database: which versions were applied to it.
///
/// One that FMDBMigrationManager made, with the single column `version`, is used as it is.
struct SQLLedger<Connection: SQLConnection> {
    let db: Connection

    /// The names of its columns in lower case, none where there is no such table.
    private(set) var columns: [String]

    private var dialect: SQLDialect { Connection.dialect }

    init(reading db: Connection) throws(SQLError) {
        self.db = db
        columns = try Self.columns(of: db)
        if exists, !columns.contains("version") {
            throw Self.unreadable("The table schema_migrations has no column version")
        }
    }

    var exists: Bool { !columns.isEmpty }

    private static func columns(of db: Connection) throws(SQLError) -> [String] {
        var columns = [String]()
        for row in try SQLError.wrapping({ try db.query(Connection.dialect.columns(of: "schema_migrations")) }
        ) {
            guard case .text(let name) = row.first else {
                throw unreadable("The columns of the table schema_migrations can't be told")
            }
            columns.append(name.lowercased())
        }
        return columns
    }

    /// Every version applied to a database, in order; none where there is no ledger.
    ///
    /// A start that has nothing to do comes here and no further, so its columns are not asked for first.
    static func versions(in db: Connection) throws(SQLError) -> [Int64] {
        guard Connection.dialect.isSQLite else { return try SQLLedger(reading: db).versions() }
        do throws(SQLError) {
            return try readVersions(in: db)
        } catch {
            // It has the error again, unless the ledger was missing or was made meanwhile.
            return try SQLLedger(reading: db).versions()
        }
    }

    /// Every version applied, in order.
    func versions() throws(SQLError) -> [Int64] { exists ? try Self.readVersions(in: db) : [] }

    private static func readVersions(in db: Connection) throws(SQLError) -> [Int64] {
        // In order, SQLite reads the index of the versions alone.
        let sql = "SELECT version FROM \(Connection.dialect.ledgerTable) ORDER BY version"
        var versions = [Int64]()
        if let db = db as? SQLiteConnection {
            try db.forEachFirst(of: sql) { value throws(SQLError) in versions.append(try version(value)) }
        } else {
            for row in try SQLError.wrapping({ try db.query(sql) }) {
                versions.append(try version(row.first))
            }
        }
        versions.sort()
        return versions
    }

    /// The versions whose checksum is known, with it.
    func checksums() throws(SQLError) -> [(version: Int64, checksum: String)] {
        guard columns.contains("checksum") else { return [] }
        let rows = try SQLError.wrapping {
            try db.query(
                "SELECT version, checksum FROM \(dialect.ledgerTable) WHERE checksum IS NOT NULL ORDER BY version"
            )
        }
        var checksums = [(version: Int64, checksum: String)]()
        for row in rows {
            guard row.count == 2, case .text(let checksum) = row[1] else {
                throw Self.unreadable("The checksum of a row is not a text: \(row)")
            }
            checksums.append((try Self.version(row[0]), checksum))
        }
        return checksums
    }

    func hasApplied(_ version: Int64) throws(SQLError) -> Bool {
        let rows = try SQLError.wrapping {
            try db.query(
                "SELECT 1 FROM \(dialect.ledgerTable) WHERE version = \(dialect.placeholder(1))",
                [.integer(version)]
            )
        }
        return !rows.isEmpty
    }

    /// Makes the table where it is still missing; called with the lock held.
    mutating func createIfNeeded() throws(SQLError) {
        if exists { return }
        let ledger = try SQLLedger(reading: db)
        if !ledger.exists { try SQLError.wrapping { try db.query(dialect.createLedger) } }
        columns = try SQLLedger(reading: db).columns
    }

    /// Writes that a migration was applied.
    func record(_ version: Int64, name: String?, checksum: String?) throws(SQLError) {
        var names = ["version"]
        var values = [dialect.placeholder(1)]
        var arguments: [SQLValue] = [.integer(version)]
        for (column, text) in [("name", name), ("checksum", checksum)] where columns.contains(column) {
            names.append(column)
            arguments.append(text.map { .text($0) } ?? .null)
            values.append(dialect.placeholder(arguments.count))
        }
        if columns.contains("applied_at") {
            names.append("applied_at")
            values.append(dialect.now)
        }
        let sql =
            "INSERT INTO \(dialect.ledgerTable) (\(names.joined(separator: ", ")))"
            + " VALUES (\(values.joined(separator: ", ")))"
        try SQLError.wrapping { try db.query(sql, arguments) }
    }

    private static func version(_ value: SQLValue?) throws(SQLError) -> Int64 {
        // A ledger of Rails, and a connection that gives every value as text, have texts of digits.
        switch value {
        case .integer(let version): return version
        case .text(let text):
            if let version = Int64(text) { return version }
            throw unreadable("The table schema_migrations has the version '\(text)', which is no number")
        default:
            throw unreadable("The table schema_migrations has a version that is no number")
        }
    }

    private static func unreadable(_ message: String) -> SQLError { SQLError(.ledgerUnreadable, message) }
}

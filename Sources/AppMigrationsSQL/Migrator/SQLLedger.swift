/// The table `schema_migrations` of a database, or one of another name: which versions were applied to it.
///
/// One that FMDBMigrationManager made, with the single column `version`, is used as it is.
struct SQLLedger {
    let session: any SQLSession
    let name: String

    /// The names of its columns in lower case, none where there is no such table.
    private(set) var columns = [String]()

    /// The declared type of its versions, empty for none.
    private(set) var versionType = ""

    private var db: any SQLConnection { session.db }
    private var table: String { session.table(name) }

    init(unreadIn session: any SQLSession, named name: String) {
        self.session = session
        self.name = name
    }

    init(reading session: any SQLSession, named name: String) throws(SQLError) {
        self.init(unreadIn: session, named: name)
        try readColumns()
    }

    var exists: Bool { !columns.isEmpty }

    mutating func readColumns() throws(SQLError) {
        columns = []
        for row in try session.columns(of: name) {
            guard row.count == 2, case .text(let column) = row[0] else {
                throw Self.unreadable("The columns of the table \(name) can't be told")
            }
            columns.append(column.lowercased())
            if case .text(let type) = row[1], columns.last == "version" { versionType = type }
        }
        if !exists { return }
        try refuseOtherTools()
        if !columns.contains("version") { throw Self.unreadable("The table \(name) has no column version") }
    }

    /// Every version applied to a database, in order; none where there is no ledger.
    ///
    /// A start that has nothing to do comes here and no further, so its columns are not asked for first.
    static func versions(in session: any SQLSession, named name: String) throws(SQLError) -> [Int64] {
        guard session.goesOnAfterErrors else {
            return try SQLLedger(reading: session, named: name).versions()
        }
        do throws(SQLError) {
            return try readVersions(in: session, named: name)
        } catch {
            // It has the error again, unless the ledger was missing or was made meanwhile.
            return try SQLLedger(reading: session, named: name).versions()
        }
    }

    /// Every version applied, in order.
    func versions() throws(SQLError) -> [Int64] {
        exists ? try Self.readVersions(in: session, named: name) : []
    }

    private static func readVersions(
        in session: any SQLSession,
        named name: String
    ) throws(SQLError) -> [Int64] {
        var versions = [Int64]()
        // In order, SQLite reads the index of the versions alone.
        try session.forEachFirst(of: "SELECT version FROM \(session.table(name)) ORDER BY version") {
            value throws(SQLError) in
            versions.append(try version(value, name))
        }
        versions.sort()
        return versions
    }

    /// The versions whose checksum is known, with it.
    func checksums() throws(SQLError) -> [(version: Int64, checksum: String)] {
        guard columns.contains("checksum") else { return [] }
        let rows = try db.rows(
            "SELECT version, checksum FROM \(table) WHERE checksum IS NOT NULL ORDER BY version"
        )
        var checksums = [(version: Int64, checksum: String)]()
        for row in rows {
            guard row.count == 2, case .text(let checksum) = row[1] else {
                throw Self.unreadable("The checksum of a row is not a text: \(row)")
            }
            checksums.append((try Self.version(row[0], name), checksum))
        }
        return checksums
    }

    /// The checksum of a version, where the ledger has one.
    ///
    /// A start that has nothing to do asks for one version, and not for the columns first.
    static func checksum(
        of version: Int64,
        in session: any SQLSession,
        named name: String
    ) throws(SQLError) -> String? {
        if session.goesOnAfterErrors {
            do throws(SQLError) {
                return try readChecksum(of: version, in: session, named: name)
            } catch {
                // It has the error again, unless the ledger has no checksums.
            }
        }
        return try SQLLedger(reading: session, named: name).checksum(of: version)
    }

    func checksum(of version: Int64) throws(SQLError) -> String? {
        columns.contains("checksum") ? try Self.readChecksum(of: version, in: session, named: name) : nil
    }

    private static func readChecksum(
        of version: Int64,
        in session: any SQLSession,
        named name: String
    ) throws(SQLError) -> String? {
        let rows = try session.db.rows(
            "SELECT checksum FROM \(session.table(name)) WHERE version = \(session.placeholder(1))",
            [.integer(version)]
        )
        if case .text(let checksum) = rows.first?.first { return checksum }
        return nil
    }

    func hasApplied(_ version: Int64) throws(SQLError) -> Bool {
        try !db.rows(
            "SELECT 1 FROM \(table) WHERE version = \(session.placeholder(1))",
            [.integer(version)]
        ).isEmpty
    }

    /// Makes the table where it is still missing; called with the lock held.
    mutating func createIfNeeded() throws(SQLError) {
        if exists { return }
        try readColumns()
        if exists { return }
        // FMDBMigrationManager's table with three columns more, which it can leave out when it inserts.
        try db.rows(
            """
            CREATE TABLE \(table) (
                version \(session.integerType) UNIQUE NOT NULL,
                name TEXT,
                checksum TEXT,
                applied_at TEXT
            )
            """
        )
        try readColumns()
    }

    /// The columns of a ledger that this library made.
    private static let ownColumns = ["version", "name", "checksum", "applied_at"]

    /// Writes that a migration was applied.
    ///
    /// The insert of a table that is not this library's may leave the row out without an error, by ON CONFLICT IGNORE
    /// or RAISE(IGNORE), or take another one away. The migration would run at every start.
    func record(_ version: Int64, name: String?, checksum: String?) throws(SQLError) {
        var names = ["version"]
        var values = [session.placeholder(1)]
        var arguments: [SQLValue] = [.integer(version)]
        for (column, text) in [("name", name), ("checksum", checksum)] where columns.contains(column) {
            names.append(column)
            arguments.append(text.map { .text($0) } ?? .null)
            values.append(session.placeholder(arguments.count))
        }
        if columns.contains("applied_at") {
            names.append("applied_at")
            values.append(session.now)
        }
        let sql =
            "INSERT INTO \(table) (\(names.joined(separator: ", ")))"
            + " VALUES (\(values.joined(separator: ", ")))"
        // One that this library made has neither; a look at the row is cheaper than two at the number of rows.
        let isForeign = columns != Self.ownColumns
        let before = isForeign ? try db.count(of: table) : 0
        try db.rows(sql, arguments)
        let after = isForeign ? try db.count(of: table) : 1
        guard try hasApplied(version), after == before + 1 else {
            throw Self.unreadable(
                "The table \(self.name) did not keep the row of version \(version), or lost another"
            )
        }
    }

    private static func version(_ value: SQLValue?, _ name: String) throws(SQLError) -> Int64 {
        // A connection that gives every value as text has texts of digits.
        switch value {
        case .integer(let version): return version
        case .text(let text):
            if let version = Int64(text) { return version }
            throw unreadable("The table \(name) has the version '\(text)', which is no number")
        default:
            throw unreadable("The table \(name) has a version that is no number")
        }
    }

    private static func unreadable(_ message: String) -> SQLError { SQLError(.ledgerUnreadable, message) }
}

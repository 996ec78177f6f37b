/// The table `schema_migrations` of a database, or one of another name: which versions were applied to it.
///
/// One that FMDBMigrationManager made, with the single column `version`, is used as it is. What is known of the table is noted
/// here as it is read.
final class SQLLedger {
    let session: any SQLSession
    let name: String

    /// The table as it stands in a statement.
    private(set) var table: String

    /// The names of its columns in lower case, none where there is no such table.
    private(set) var columns = [String]()

    /// The declared type of its versions, empty for none.
    private(set) var versionType = ""

    /// Every version applied, in order.
    private(set) var versions = [Int64]()

    /// The versions whose checksum is known, with it.
    private(set) var checksums = [Int64: String]()

    /// The versions whose SQL is another one than when it was applied, once the ledger is compared.
    var changed = [Int64]()

    /// True if any row is what this migrator would have written.
    var hasOwnRow = false

    init(_ session: any SQLSession, named name: String) {
        self.session = session
        self.name = name
        table = session.table(name)
    }

    var exists: Bool { !columns.isEmpty }

    /// Reads which columns there are.
    func read() throws(SQLError) { try note(columns: session.columns(of: name)) }

    private func note(columns rows: SQLRows) throws(SQLError) {
        (columns, versionType) = ([], "")
        table = session.table(name, in: rows)
        for row in rows {
            guard row.count > 1, case .text(let column) = row[0] else {
                throw Self.unreadable("The columns of the table \(name) can't be told")
            }
            columns.append(column.lowercased())
            if case .text(let type) = row[1], columns.last == "version" { versionType = type }
        }
        if !exists { return }
        try refuseOtherTools()
        if !columns.contains("version") { throw Self.unreadable("The table \(name) has no column version") }
    }

    /// Reads the versions of a database whose columns were not asked for, none where there is no ledger.
    ///
    /// A start that has nothing to do comes here and no further.
    func readFirst() throws(SQLError) {
        if session.goesOnAfterErrors {
            // The ledger has the error again, unless it was missing or was made meanwhile. A lock would be waited for twice.
            do throws(SQLError) { return try selectVersions() } catch {
                if error.code == .busy { throw error }
            }
        }
        try read()
        try readVersions()
    }

    /// Reads the versions, once the columns are known.
    func readVersions() throws(SQLError) {
        versions = []
        if exists { try selectVersions() }
    }

    private func selectVersions() throws(SQLError) {
        // In order, SQLite reads the index of the versions alone.
        let rows = try session.values(of: "SELECT version FROM \(table) ORDER BY version")
        var found = [Int64]()
        found.reserveCapacity(rows.count == 1 ? rows[0].count : rows.count)
        for row in rows {
            for value in row { found.append(try version(value)) }
        }
        found.sort()
        versions = found
    }

    /// Reads the checksums, once the columns are known.
    func readChecksums() throws(SQLError) {
        checksums = [:]
        guard columns.contains("checksum") else { return }
        let sql = "SELECT version, checksum FROM \(table) WHERE checksum IS NOT NULL ORDER BY version"
        for row in try session.db.query(sql) {
            guard row.count == 2, case .text(let checksum) = row[1] else {
                throw Self.unreadable("The checksum of a row is not a text: \(row)")
            }
            checksums[try version(row[0])] = checksum
        }
    }

    /// The checksum of a version whose columns were not asked for, where the ledger has one.
    ///
    /// A start that has nothing to do asks for one version, and not for the columns first.
    func firstChecksum(of version: Int64) throws(SQLError) -> String? {
        if session.goesOnAfterErrors {
            // The ledger has the error again, unless it has no checksums.
            do throws(SQLError) { return try selectChecksum(of: version) } catch {}
        }
        try read()
        return try checksum(of: version)
    }

    /// The checksum of a version, once the columns are known.
    func checksum(of version: Int64) throws(SQLError) -> String? {
        columns.contains("checksum") ? try selectChecksum(of: version) : nil
    }

    private func selectChecksum(of version: Int64) throws(SQLError) -> String? {
        guard case .text(let checksum) = try select("checksum", of: version).first?.first else { return nil }
        return checksum
    }

    /// True if a version was applied.
    func hasApplied(_ version: Int64) throws(SQLError) -> Bool { try !select("1", of: version).isEmpty }

    private func select(_ column: String, of version: Int64) throws(SQLError) -> SQLRows {
        try session.db.query(
            "SELECT \(column) FROM \(table) WHERE version = \(session.placeholder(1))",
            [.integer(version)]
        )
    }

    private func version(_ value: SQLValue) throws(SQLError) -> Int64 {
        // A connection that gives every value as text has texts of digits.
        switch value {
        case .integer(let version): return version
        case .text(let text):
            if let version = Int64(text) { return version }
            throw Self.unreadable("The table \(name) has the version '\(text)', which is no number")
        default:
            throw Self.unreadable("The table \(name) has a version that is no number")
        }
    }

    static func unreadable(_ message: String) -> SQLError { SQLError(.ledgerUnreadable, message) }
}

extension SQLLedger {
    /// Makes the ledger where it is still missing; the lock is held.
    func make() throws(SQLError) {
        if exists { return }
        try read()
        if exists { return }
        // FMDBMigrationManager's table with three columns more, which it can leave out when it inserts.
        try session.db.query(
            """
            CREATE TABLE \(table) (
                version \(session.integerType) UNIQUE NOT NULL,
                name TEXT,
                checksum TEXT,
                applied_at TEXT
            )
            """
        )
        try read()
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
        // One that this library made has neither; a look at the row is cheaper than two at the number of rows.
        let before = columns == Self.ownColumns ? nil : try session.count(of: table)
        try session.db.query(
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))",
            arguments
        )
        let hasGrown =
            try before.map { before throws(SQLError) in try session.count(of: table) == before + 1 } ?? true
        if try hasApplied(version), hasGrown { return }
        throw Self.unreadable(
            "The table \(self.name) did not keep the row of version \(version), or lost another"
        )
    }
}

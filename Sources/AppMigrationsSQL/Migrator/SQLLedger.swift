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

    private var table: String { session.table(name) }

    static func reading(_ session: any SQLSession, named name: String) -> SQLWork<SQLLedger> {
        session.columns(of: name).map { try SQLLedger(session, name, columns: $0) }
    }

    init(unreadIn session: any SQLSession, named name: String) {
        self.session = session
        self.name = name
    }

    private init(_ session: any SQLSession, _ name: String, columns rows: [[SQLValue]]) throws(SQLError) {
        self.init(unreadIn: session, named: name)
        for row in rows {
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

    var exists: Bool { !columns.isEmpty }

    /// Every version applied to a database, in order; none where there is no ledger.
    ///
    /// A start that has nothing to do comes here and no further, so its columns are not asked for first.
    static func versions(in session: any SQLSession, named name: String) -> SQLWork<[Int64]> {
        guard session.goesOnAfterErrors else { return reading(session, named: name).then { $0.versions() } }
        // The ledger has the error again, unless it was missing or was made meanwhile.
        return readVersions(in: session, named: name)
            .otherwise { _ in reading(session, named: name).then { $0.versions() } }
    }

    /// Every version applied, in order.
    func versions() -> SQLWork<[Int64]> {
        exists ? Self.readVersions(in: session, named: name) : .done([])
    }

    private static func readVersions(in session: any SQLSession, named name: String) -> SQLWork<[Int64]> {
        // In order, SQLite reads the index of the versions alone.
        session.firstValues(of: "SELECT version FROM \(session.table(name)) ORDER BY version").map { values in
            var versions = [Int64]()
            versions.reserveCapacity(values.count)
            for value in values { versions.append(try version(value, name)) }
            versions.sort()
            return versions
        }
    }

    /// The versions whose checksum is known, with it.
    func checksums() -> SQLWork<[Int64: String]> {
        guard columns.contains("checksum") else { return .done([:]) }
        return SQLWork.rows(
            "SELECT version, checksum FROM \(table) WHERE checksum IS NOT NULL ORDER BY version"
        ).map { rows in
            var checksums = [Int64: String]()
            for row in rows {
                guard row.count == 2, case .text(let checksum) = row[1] else {
                    throw Self.unreadable("The checksum of a row is not a text: \(row)")
                }
                checksums[try Self.version(row[0], name)] = checksum
            }
            return checksums
        }
    }

    /// The checksum of a version, where the ledger has one.
    ///
    /// A start that has nothing to do asks for one version, and not for the columns first.
    static func checksum(
        of version: Int64,
        in session: any SQLSession,
        named name: String
    ) -> SQLWork<String?> {
        let thorough = { reading(session, named: name).then { $0.checksum(of: version) } }
        guard session.goesOnAfterErrors else { return thorough() }
        // The ledger has the error again, unless it has no checksums.
        return readChecksum(of: version, in: session, named: name).otherwise { _ in thorough() }
    }

    func checksum(of version: Int64) -> SQLWork<String?> {
        columns.contains("checksum")
            ? Self.readChecksum(of: version, in: session, named: name) : .done(nil)
    }

    private static func readChecksum(
        of version: Int64,
        in session: any SQLSession,
        named name: String
    ) -> SQLWork<String?> {
        SQLWork.rows(
            "SELECT checksum FROM \(session.table(name)) WHERE version = \(session.placeholder(1))",
            [.integer(version)]
        ).map { rows in
            if case .text(let checksum) = rows.first?.first { return checksum }
            return nil
        }
    }

    func hasApplied(_ version: Int64) -> SQLWork<Bool> {
        SQLWork.rows(
            "SELECT 1 FROM \(table) WHERE version = \(session.placeholder(1))",
            [.integer(version)]
        ).map { !$0.isEmpty }
    }

    private static func version(_ value: SQLValue, _ name: String) throws(SQLError) -> Int64 {
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

    static func unreadable(_ message: String) -> SQLError { SQLError(.ledgerUnreadable, message) }
}

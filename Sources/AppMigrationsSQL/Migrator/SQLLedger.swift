internal import AppMigrations

/// The table `schema_migrations` of a database, or one of another name: which versions were applied to it.
///
/// One that FMDBMigrationManager made, with the single column `version`, is used as it is.
final class SQLLedger: LedgerTable {
    /// Every version applied, in order.
    private(set) var versions = [Int64]()

    /// The data version in which `versions` has all but this run's own; `nil` once this connection may have written others.
    var known: Int64?

    /// The versions whose SQL is another one than when it was applied, once the ledger is compared.
    var changed = [Int64]()

    /// True if any row is what this migrator would have written.
    var hasOwnRow = false

    init(_ session: any SQLSession, named name: String) {
        let columns = ["version", "name", "checksum", "applied_at"]
        super.init(session, named: name, columns: columns, required: 1)
    }

    override func read() throws(SQLError) {
        try super.read()
        // FMDBMigrationManager's table has integers.
        if columns == ["version"], ["CHAR", "TEXT"].contains(where: versionType.uppercased().contains) {
            throw SQLError(
                .foreignLedger,
                "The table \(name) is a table of Rails or dbmate: its versions are texts, and it has no other column"
            )
        }
    }

    /// Reads the versions of a database whose columns were not asked for, none where there is no ledger.
    ///
    /// A start that has nothing to do comes here and no further.
    func readFirst() throws(SQLError) {
        if session.goesOnAfterErrors {
            // The ledger may be missing: `read()` finds that, or the error again. After `busy` it would wait twice.
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

    // An interpolation makes room for more than 63 bytes here. Swift builds a type when such a text goes, which takes the first call
    // of a process as long as a statement.
    private func selectVersions() throws(SQLError) {
        var found = [Int64]()
        // The rows are mostly in the order of their versions. To let SQLite sort them would take longer.
        try session.values(of: "SELECT version FROM " + (table + session.withoutIndex)) {
            value throws(SQLError) in
            let version = try version(value)
            if found.last ?? .min <= version { return found.append(version) }
            // Texts have another order than numbers.
            found.insert(version, at: found.firstIndex { $0 > version } ?? found.count)
        }
        versions = found
    }

    /// The checksum of a version, where the ledger has one.
    ///
    /// A start that has nothing to do asks for one version, and not for the columns first.
    func checksum(of version: Int64) throws(SQLError) -> String? {
        if session.goesOnAfterErrors, !exists {
            // The ledger may have no checksums: `read()` finds that, or the error again.
            do throws(SQLError) { return try selectChecksum(of: version) } catch {}
        }
        if !exists { try read() }
        return columns.contains("checksum") ? try selectChecksum(of: version) : nil
    }

    private func selectChecksum(of version: Int64) throws(SQLError) -> String? {
        var checksum: String?
        let sql = "SELECT checksum FROM " + (table + (session.withoutIndex + " WHERE version=\(version)"))
        try session.values(of: sql) { if case .text(let text) = $0 { checksum = text } }
        return checksum
    }

    /// True if a version was applied; with a data version, the ledger is read only if it may have been written since it was known.
    func hasApplied(_ version: Int64, at dataVersion: Int64? = nil) throws(SQLError) -> Bool {
        let sql = "SELECT 1 FROM \(table)\(session.withoutIndex) WHERE version = \(version)"
        guard let dataVersion else { return try !session.db.query(sql).isEmpty }
        if known != dataVersion { try readVersions() }
        known = dataVersion
        return versions.contains(version)
    }

    private func version(_ value: SQLValue) throws(SQLError) -> Int64 {
        if let version = value.number { return version }
        throw unreadable("The table \(name) has a version that is not a number: \(value.shown)")
    }

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

    /// Writes that a migration was applied.
    func record(_ version: Int64, name: String?, checksum: String?) throws(SQLError) {
        let now = SQLValue.text(Timestamp.text(Platform.now))
        let values = [.integer(version), SQLValue(name), SQLValue(checksum), now]
        // A ledger that this library made loses no rows; a look at the row is cheaper than two at the number of rows.
        if try insert(values, of: "\(version)", counting: !isOwn) { return }
        known = nil
        if try !hasApplied(version) { throw notKept("\(version)") }
    }

    /// Reads the ledger, and the files of every migration that is applied.
    func compare(with steps: [SQLStep]) throws(SQLError) {
        try read()
        try readVersions()
        (changed, hasOwnRow) = ([], false)
        guard columns.contains("checksum") else { return }
        // A row without a checksum could be anybody's.
        let sql = """
            SELECT version, checksum FROM \(table)\(session.withoutIndex) WHERE checksum IS NOT NULL ORDER BY version
            """
        for row in try session.db.query(sql) {
            let (version, then) = (try version(row[0]), try row.text(1))
            guard let step = steps.first(where: { $0.version == version }) else { continue }
            if try step.checksum() == then { hasOwnRow = true } else { changed.append(version) }
        }
    }

    /// Refuses a ledger that another migrator wrote: its rows have none of the texts, and the database none of the
    /// tables that the texts make.
    ///
    /// A text that was edited after its release is another case: its table is there, or another row is as it should be.
    func refuseOtherOwner(than steps: [SQLStep]) throws(SQLError) {
        try compare(with: steps)
        guard let version = changed.first, !hasOwnRow else { return }
        var made = [SQLName]()
        for step in steps where versions.contains(step.version) {
            if let text = try step.text() { Self.follow(text, &made) }
        }
        let tables = try session.db.query(session.tables)
        let isThere = tables.contains {
            if case .text(let name) = $0.first { made.contains(SQLName(name)) } else { false }
        }
        if made.isEmpty || isThere { return }
        let list = made.map(\.text).joined(separator: ", ")
        throw SQLError(
            .foreignLedger,
            "The table \(name) belongs to another migrator: its version \(version) has another text, and the"
                + " database has no \(list)"
        )
    }

    /// Follows which tables may be there after a script, by every name that scripts give them.
    private static func follow(_ script: String, _ tables: inout [SQLName]) {
        let tokens = SQLTokens(script)
        for index in tokens.tokens.indices {
            func follows(_ keyword: StaticString) -> Bool { tokens.isWord(index - 1, keyword) }
            let isDropped = follows("DROP")
            let isTable =
                tokens.isWord(index, "TABLE") && (isDropped || follows("CREATE") || follows("VIRTUAL"))
            guard isTable || tokens.isWord(index, "TO") && follows("RENAME") else { continue }
            var place = index + 1
            if tokens.isWord(place, "IF") { place += tokens.isWord(place + 1, "NOT") ? 3 : 2 }
            if tokens.isSign(place + 1, ".") { place += 2 }
            guard let name = tokens.name(place) else { continue }
            tables.removeAll { $0 == name }
            if !isDropped { tables.append(name) }
        }
    }
}

internal import AppMigrations

/// The table that records which versions were applied to a database: `schema_migrations`, unless it has
/// another name.
///
/// A table that FMDBMigrationManager created, with the single column `version`, is used as it is.
final class SQLLedger: LedgerTable {
    static let ownColumns = [
        LedgerColumn.integer("version"), .text("name"), .text("checksum"), .text("applied_at"),
    ]

    /// Every applied version, in order.
    private(set) var versions = [Int64]()

    /// The connection's data version when ``versions`` was read; `nil` if they must be read again, because
    /// this connection may have written to the ledger.
    ///
    /// A data version changes when another connection commits (``SQLSession/dataVersion()``). It doesn't
    /// change when this connection inserts a row, so ``versions`` may lack the rows of this run.
    var dataVersionOfVersions: Int64?

    /// The versions whose SQL was edited after it was applied; empty until the ledger is compared.
    var editedVersions = [Int64]()

    /// True if at least one row has the checksum of this app's migration.
    var hasOwnRow = false

    /// The value in the column `checksum` of a version that was read with the versions.
    private var newestChecksum: (version: Int64, checksum: SQLValue)?

    init(_ session: any SQLSession, named name: String) {
        super.init(
            session,
            named: name,
            columns: Self.ownColumns,
            olderForms: [[.integer("version")]]
        )
    }

    /// Reads the versions, and the checksum of the version `newest`; if the ledger doesn't exist,
    /// ``versions`` is empty.
    ///
    /// On a connection of this library, an idle start needs no statement but this one.
    func readVersions(withChecksumOf newest: Int64?) throws(SQLError) {
        var found = [Int64]()
        newestChecksum = nil
        let isRead = try readRows(newest: newest) { value, checksum throws(SQLError) in
            Self.insert(try version(value), into: &found)
            if let checksum { newestChecksum = (try version(value), checksum) }
        }
        if isRead { return versions = found }
        try read()
        try readVersions()
    }

    /// Reads the versions after the columns are known.
    func readVersions() throws(SQLError) {
        var found = [Int64]()
        if exists {
            for row in try session.db.query("SELECT version FROM \(table)\(session.withoutIndex)") {
                Self.insert(try version(row[0]), into: &found)
            }
        }
        versions = found
    }

    /// Inserts a version in order.
    ///
    /// The rows come in the order in which they were inserted, or in any other order. Usually that is the
    /// order of their versions, and sorting by the database would take longer. A migration that ran out of
    /// order comes after newer ones.
    private static func insert(_ version: Int64, into versions: inout [Int64]) {
        if versions.last ?? .min <= version { return versions.append(version) }
        versions.insert(version, at: versions.firstIndex { $0 > version } ?? versions.count)
    }

    /// The checksum of an applied version; `nil` if the ledger has none.
    func checksum(of version: Int64) throws(SQLError) -> String? {
        var value = SQLValue.null
        if let newestChecksum, newestChecksum.version == version {
            value = newestChecksum.checksum
        } else if hasColumn("checksum") {
            let sql = "SELECT checksum FROM \(table)\(session.withoutIndex) WHERE version = \(version)"
            value = try session.db.query(sql).first?.first ?? .null
        }
        if case .text(let text) = value { return text }
        return nil
    }

    /// True if a version was applied, as the database says now.
    func hasApplied(_ version: Int64) throws(SQLError) -> Bool {
        let sql = "SELECT 1 FROM \(table)\(session.withoutIndex) WHERE version = \(version)"
        return try !session.db.query(sql).isEmpty
    }

    /// True if a version was applied before this run, as ``versions`` says.
    ///
    /// Reads the versions again unless the ledger certainly has the rows of the last time: `dataVersion` is
    /// the same, and isn't `nil`.
    func hasApplied(_ version: Int64, at dataVersion: Int64?) throws(SQLError) -> Bool {
        if dataVersion == nil || dataVersionOfVersions != dataVersion { try readVersions() }
        dataVersionOfVersions = dataVersion
        return versions.contains(version)
    }

    /// Reads the ledger after a migration, and throws if one of the `expected` rows is gone.
    ///
    /// Otherwise this migration would be recorded, and the next start would run those of the missing rows
    /// again.
    func requireVersions(_ expected: [Int64], after script: String?) throws(SQLError) {
        try read()
        if !exists { throw changedLedger("drops or renames \(name), which is", in: script) }
        try readVersions()
        if let lost = expected.first(where: { !versions.contains($0) }) {
            throw changedLedger("removes version \(lost) from \(name), which is", in: script)
        }
    }

    private func changedLedger(_ change: String, in script: String?) -> SQLError {
        let error = SQLError(
            .refusedStatement,
            "The migration \(change) the ledger of this migrator. Migrations that have run would run again. If the"
                + " table is meant to be another tool's, give this migrator another ledger (ledger:)"
        )
        guard let script = script.map({ SQLScript($0) }), let offset = position(in: script) else {
            return error
        }
        return error.located(at: script.position(at: offset))
    }

    /// The offset at which a script first names the ledger; `nil` if it doesn't.
    func position(in script: SQLScript) -> Int? {
        // On PostgreSQL, the name of a ledger may begin with a schema.
        let table = name.split(separator: ".").last.map { SQLName(String($0)) }
        let tokens = SQLTokens(script)
        let index = tokens.tokens.indices.first { tokens.name($0) == table }
        return index.map { tokens.tokens[$0].range.lowerBound }
    }

    private func version(_ value: SQLValue) throws(SQLError) -> Int64 {
        if let version = value.number { return version }
        throw unreadable("The table \(name) has a version that is not a number: \(value.shown)")
    }

    /// Creates the ledger if it is missing.
    ///
    /// Call it with the lock held.
    func createIfMissing() throws(SQLError) {
        if exists { return }
        try read()
        if exists { return }
        // FMDBMigrationManager's table with three more columns. These may be NULL, so that
        // FMDBMigrationManager can still insert rows.
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

    /// Records that a migration was applied.
    ///
    /// If the connection can't tell what the insert has changed, this throws unless the table still has the
    /// rows of `others`: a trigger may have deleted them.
    func record(
        _ version: Int64,
        name: String?,
        checksum: String?,
        keeping others: [Int64] = []
    ) throws(SQLError) {
        let now = SQLValue.text(Timestamp.text(Platform.now))
        let values = [.integer(version), SQLValue(name), SQLValue(checksum), now]
        // If another library created the table, an insert may change other rows, so the rows are counted. In
        // a table of this library, it is enough to read the new row, which is cheaper.
        if try insert(values, of: "\(version)", counting: !hasExactlyOwnColumns) { return }
        dataVersionOfVersions = nil
        try readVersions()
        if !(others + [version]).allSatisfy(versions.contains) { throw notKept("\(version)") }
    }

    /// Reads the ledger and the files of all applied migrations, and compares their checksums.
    ///
    /// Sets ``editedVersions`` and ``hasOwnRow``.
    func compare(with steps: [SQLStep]) throws(SQLError) {
        try read()
        try readVersions()
        editedVersions = []
        hasOwnRow = false
        guard hasColumn("checksum") else { return }
        // A row without a checksum may have been written by any library.
        let sql = """
            SELECT version, checksum FROM \(table)\(session.withoutIndex) WHERE checksum IS NOT NULL ORDER BY version
            """
        for row in try session.db.query(sql) {
            let version = try version(row[0])
            let recorded = try row.text(1)
            guard let step = steps.first(where: { $0.version == version }) else { continue }
            if try step.checksum() == recorded { hasOwnRow = true } else { editedVersions.append(version) }
        }
    }

    /// Throws if another migrator wrote the ledger.
    ///
    /// The ledger belongs to another migrator if all its checksums differ from those of this app, and the
    /// database has none of the tables that the app's applied migrations create. If a migration of this app
    /// was only edited after its release, this doesn't throw: the app's tables exist, or another row has the
    /// right checksum.
    func refuseOtherOwner(than steps: [SQLStep]) throws(SQLError) {
        try compare(with: steps)
        guard let version = editedVersions.first, !hasOwnRow else { return }
        var expected = [SQLName]()
        for step in steps where versions.contains(step.version) {
            if let text = try step.text() { Self.updateTables(&expected, after: text) }
        }
        let tables = try session.db.query(session.tables)
        let hasExpectedTable = tables.contains {
            if case .text(let name) = $0.first { expected.contains(SQLName(name)) } else { false }
        }
        if expected.isEmpty || hasExpectedTable { return }
        let list = expected.map(\.text).joined(separator: ", ")
        throw SQLError(
            .foreignLedger,
            "The table \(name) belongs to another migrator: its version \(version) has another text, and the"
                + " database has no \(list)"
        )
    }

    /// Adds to `tables` those that a script creates or renames, and removes those that it drops.
    private static func updateTables(_ tables: inout [SQLName], after script: String) {
        let tokens = SQLTokens(script)
        for index in tokens.tokens.indices {
            func follows(_ keyword: StaticString) -> Bool { tokens.isWord(index - 1, keyword) }
            let isDropped = follows("DROP")
            let isTable =
                tokens.isWord(index, "TABLE") && (isDropped || follows("CREATE") || follows("VIRTUAL"))
            guard isTable || tokens.isWord(index, "TO") && follows("RENAME") else { continue }
            var nameIndex = index + 1
            if tokens.isWord(nameIndex, "IF") { nameIndex += tokens.isWord(nameIndex + 1, "NOT") ? 3 : 2 }
            if tokens.isSign(nameIndex + 1, ".") { nameIndex += 2 }
            guard let name = tokens.name(nameIndex) else { continue }
            tables.removeAll { $0 == name }
            if !isDropped { tables.append(name) }
        }
    }
}

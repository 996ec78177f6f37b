public import AppMigrationsSQL

/// The number of definitions that sModel has run in a database.
///
/// sModel (github.com/FamilySearch/sModel) runs an array of SQL texts, which it calls definitions, and counts
/// in the database how many of them have run. Versions 1 and 2 of sModel count in `PRAGMA user_version`.
/// Version 3 of sModel counts in the table `_sModel_DBDefTracker`, with one row for each namespace. In its
/// databases, `user_version` is 1000 plus the version of sModel's own tables.
///
/// The guide *Coming from sModel* has a whole file that uses this type.
public struct SModelTracker: Sendable {
    /// The namespace of the definitions; empty for definitions without a namespace.
    public let namespace: String

    /// Makes a tracker of the definitions of a namespace, or of the definitions without a namespace.
    public init(namespace: String = "") { self.namespace = namespace }

    /// Reads how many definitions sModel has run in a database.
    ///
    /// - Parameter db: The connection to the database. It needn't be in a transaction.
    /// - Returns: The number; 0 if sModel has run none, or if its row was deleted.
    /// - Throws: `SQLError`: `SQLError.Code.unknownSModelFormat` if `user_version` is none that a version of
    ///   sModel up to 3.1 sets; `SQLError.Code.unreadableRow` if the number in the table isn't a whole
    ///   number.
    public func version(in db: SQLiteConnection) throws(SQLError) -> Int64 {
        try checkFormat(of: db)
        // If version 3 of sModel was killed after it had created the table, the number may still be in
        // `user_version`.
        if try !columns(in: db).isEmpty {
            let rows = try db.query(
                "SELECT version FROM \(Self.table) WHERE namespace = ?",
                [SQLValue(namespace)]
            )
            if let row = rows.first { return try row[0].value(as: Int64.self) }
        }
        return namespace.isEmpty ? try versionInHeader(of: db) ?? 0 : 0
    }

    /// Returns the definitions of sModel as migrations, with the versions 1, 2, 3 and so on.
    ///
    /// The transaction of each migration also raises sModel's number to its version. So if a later migration
    /// fails, and the user goes back to a release with sModel, sModel doesn't run these definitions again.
    ///
    /// - Parameter definitions: All definitions of your newest release with sModel, in their order. Don't add
    ///   new migrations here. Add them to the returned array, with higher versions.
    /// - Returns: The migrations. Each of them is a closure. So if you edit a definition later, the migrator
    ///   doesn't report it as changed.
    public func migrations(_ definitions: [String]) -> [SQLiteMigration] {
        definitions.enumerated().map { index, definition in
            let version = Int64(index + 1)
            return SQLiteMigration(version: version, name: "sModel") { db, _ in
                try db.execute(script: definition)
                try raiseVersion(to: version, in: db)
            }
        }
    }

    /// Raises sModel's number to `version`, so that sModel doesn't run the first `version` definitions again.
    ///
    /// Call this for the definitions that you record with `markApplied`. The closures of ``migrations(_:)``
    /// call it themselves. Suppose that a user goes back to a release with sModel. If sModel's number is too
    /// low, sModel runs definitions whose work is already done. They fail, and then sModel deletes the
    /// database.
    ///
    /// A number that isn't lower than `version` isn't changed. If the number is raised, the hash of the
    /// definitions, which sModel keeps in the same row, is cleared. sModel doesn't compare an empty hash.
    ///
    /// Even if the number is high enough, the method repairs a table that sModel 3.1 would misread. sModel
    /// 3.1 ignores a row whose hash is NULL, so the method sets such a hash to an empty text. If sModel
    /// crashed before it had finished its table, the method finishes it.
    ///
    /// - Parameters:
    ///   - version: The number of definitions.
    ///   - db: The connection to the database. If it is in a transaction, the change is part of it.
    /// - Throws: `SQLError`, for example those of ``version(in:)``. Then sModel's number is as it was.
    public func raiseVersion(to version: Int64, in db: SQLiteConnection) throws(SQLError) {
        // Usually there is nothing to do. Then no lock is needed.
        if try hasRecorded(version, in: db) { return }
        do {
            try db.transaction {
                if try !hasRecorded(version, in: db) { try record(version, in: db) }
            }
        } catch {
            throw SQLError.wrapped(error, as: .statementFailed)
        }
    }
}

extension SModelTracker {
    private static var table: String { "main.\"_sModel_DBDefTracker\"" }

    /// From this number on, `user_version` is the version of sModel's own tables.
    private static var firstOwnVersion: Int64 { 1_000 }

    /// `user_version` after sModel 3.1 has created and changed its table.
    private static var lastOwnVersion: Int64 { firstOwnVersion + 2 }

    /// The number of definitions in `user_version`; `nil` if the number there has another meaning.
    private func versionInHeader(of db: SQLiteConnection) throws(SQLError) -> Int64? {
        let number = try db.userVersion
        return 1..<Self.firstOwnVersion ~= number ? number : nil
    }

    /// Throws if `user_version` is none that a known version of sModel sets.
    ///
    /// A newer version of sModel has another version of its own tables, and may keep the number elsewhere.
    private func checkFormat(of db: SQLiteConnection) throws(SQLError) {
        let number = try db.userVersion
        if 0...Self.lastOwnVersion ~= number { return }
        throw db.addingPath(
            to: SQLError(
                .unknownSModelFormat,
                "PRAGMA user_version is \(number), and the versions of sModel up to 3.1 set no number above "
                    + "\(Self.lastOwnVersion)"
            )
        )
    }

    /// The names of the table's columns; empty if there is no table.
    private func columns(in db: SQLiteConnection) throws(SQLError) -> [String] {
        var names: [String] = []
        for row in try db.query("SELECT name FROM pragma_table_info('_sModel_DBDefTracker', 'main')") {
            names.append(try row[0].value(as: String.self))
        }
        return names
    }

    /// True if every version of sModel reads a number that isn't lower than `version`.
    private func hasRecorded(_ version: Int64, in db: SQLiteConnection) throws(SQLError) -> Bool {
        if try self.version(in: db) < version { return false }
        return try isTableUsable(by: db)
    }

    private func record(_ version: Int64, in db: SQLiteConnection) throws(SQLError) {
        if try columns(in: db).isEmpty {
            if namespace.isEmpty, version < Self.firstOwnVersion {
                try db.query("PRAGMA user_version = \(version)")
                return
            }
            try createTable(in: db)
        }
        try makeTableUsable(in: db)
        try save(version, of: namespace, in: db)
    }

    /// False if sModel's table exists, and version 3 of sModel hasn't finished it or can't read all its rows.
    private func isTableUsable(by db: SQLiteConnection) throws(SQLError) -> Bool {
        let columns = try columns(in: db)
        if columns.isEmpty { return true }
        if !columns.contains("lastHash") { return false }
        // The column for the hash belongs to version 2 of sModel's own tables.
        if try db.userVersion < Self.lastOwnVersion { return false }
        return try db.query("SELECT 1 FROM \(Self.table) WHERE lastHash IS NULL").isEmpty
    }

    /// Creates the table as version 3 of sModel does.
    private func createTable(in db: SQLiteConnection) throws(SQLError) {
        try db.query(
            """
            CREATE TABLE \(Self.table) (
                "namespace" TEXT PRIMARY KEY, "version" INTEGER, "lastUpdated" REAL, lastHash TEXT
            )
            """
        )
    }

    /// Completes the table, so that each version of sModel reads every row of it.
    ///
    /// sModel 3.1 skips a row whose hash is NULL, and would run all definitions of that namespace again. The
    /// table of sModel 3.0 has no column for the hash, so the column is added. sModel 3.0 ignores it. If
    /// `user_version` is below 1000, it still has the number of definitions. So that number is moved into the
    /// table, as sModel does.
    private func makeTableUsable(in db: SQLiteConnection) throws(SQLError) {
        if try !columns(in: db).contains("lastHash") {
            try db.query("ALTER TABLE \(Self.table) ADD COLUMN lastHash TEXT")
        }
        try db.query("UPDATE \(Self.table) SET lastHash = '' WHERE lastHash IS NULL")
        if let former = try versionInHeader(of: db) { try save(former, of: "", in: db) }
        if try db.userVersion < Self.lastOwnVersion {
            try db.query("PRAGMA user_version = \(Self.lastOwnVersion)")
        }
    }

    /// Raises the number in a row of the table and clears its hash, unless the number is high enough.
    private func save(_ version: Int64, of namespace: String, in db: SQLiteConnection) throws(SQLError) {
        try db.query(
            """
            INSERT INTO \(Self.table) (namespace, version, lastUpdated, lastHash) VALUES (?, ?, 0, '')
            ON CONFLICT (namespace) DO UPDATE SET version = excluded.version, lastHash = ''
            WHERE version < excluded.version
            """,
            [SQLValue(namespace), SQLValue(version)]
        )
    }
}

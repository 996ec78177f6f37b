internal import AppMigrations
public import AppMigrationsSQL

/// The number of definitions that sModel has run in a database.
///
/// sModel (github.com/FamilySearch/sModel) runs an array of SQL texts, which it calls definitions, and counts
/// in the database how many of them have run. Its versions 1 and 2 count in `PRAGMA user_version`. Version 3
/// counts in the table `_sModel_DBDefTracker`, with one row for each namespace. It sets `user_version` to 1000
/// plus the version of its own tables.
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
    /// - Returns: The number; 0 if sModel has run none.
    /// - Throws: `SQLError`, also if the number in the table isn't a whole number.
    public func version(in db: SQLiteConnection) throws(SQLError) -> Int64 {
        // A release with version 3 of sModel, whose process was killed at its first start, may have created
        // the table without a row. Then the number is still in `user_version`.
        if try !columns(in: db).isEmpty {
            let rows = try db.query(
                "SELECT version FROM \(Self.table) WHERE namespace = ?",
                [SQLValue(namespace)]
            )
            if let row = rows.first { return try row[0].value(as: Int64.self) }
        }
        return namespace.isEmpty ? try versionInHeader(of: db) ?? 0 : 0
    }

    /// Raises sModel's number to `version`, so that sModel doesn't run these definitions again.
    ///
    /// Call this after the migrations, with the number of definitions in your newest release that uses sModel.
    /// Suppose that a user goes back to that release. Without this call, sModel could run definitions whose
    /// work is already done. They fail, and then sModel deletes the database.
    ///
    /// If sModel's number isn't lower than `version`, nothing is changed. The hash of the definitions, which
    /// sModel keeps next to the number, is cleared. sModel doesn't compare an empty hash.
    ///
    /// - Parameters:
    ///   - version: The number of definitions.
    ///   - db: The connection to the database. If it is in a transaction, the change is part of it.
    /// - Throws: `SQLError`. Then sModel's number is as it was.
    public func raiseVersion(to version: Int64, in db: SQLiteConnection) throws(SQLError) {
        if try self.version(in: db) >= version { return }
        let columns = try columns(in: db)
        let former = try versionInHeader(of: db)
        try SQLConversation(db).inSavepoint { () throws(SQLError) in
            if columns.isEmpty {
                if namespace.isEmpty, version < Self.firstOwnVersion {
                    try db.query("PRAGMA user_version = \(version)")
                    return
                }
                // As version 3 of sModel creates it, and moves the number out of `user_version`.
                try db.query(
                    """
                    CREATE TABLE \(Self.table) (
                        "namespace" TEXT PRIMARY KEY, "version" INTEGER, "lastUpdated" REAL, lastHash TEXT
                    )
                    """
                )
                if let former, !namespace.isEmpty { try save(former, of: "", in: db) }
                try db.query("PRAGMA user_version = \(Self.firstOwnVersion + 2)")
            }
            try save(version, of: namespace, in: db)
            if columns.isEmpty || columns.contains("lastHash") {
                try db.query(
                    "UPDATE \(Self.table) SET lastHash = '' WHERE namespace = ?",
                    [SQLValue(namespace)]
                )
            }
        }
    }
}

extension SModelTracker {
    private static var table: String { "main.\"_sModel_DBDefTracker\"" }

    /// From this number on, `user_version` is the version of sModel's own tables.
    private static var firstOwnVersion: Int64 { 1_000 }

    /// The number of definitions in `user_version`; `nil` if the number there has another meaning.
    private func versionInHeader(of db: SQLiteConnection) throws(SQLError) -> Int64? {
        let number = try db.userVersion
        return 1..<Self.firstOwnVersion ~= number ? number : nil
    }

    /// The names of the table's columns; empty if there is no table.
    private func columns(in db: SQLiteConnection) throws(SQLError) -> [String] {
        var names: [String] = []
        for row in try db.query("SELECT name FROM pragma_table_info('_sModel_DBDefTracker', 'main')") {
            names.append(try row[0].value(as: String.self))
        }
        return names
    }

    private func save(_ version: Int64, of namespace: String, in db: SQLiteConnection) throws(SQLError) {
        try db.query(
            """
            INSERT INTO \(Self.table) (namespace, version, lastUpdated) VALUES (?, ?, 0)
            ON CONFLICT (namespace) DO UPDATE SET version = excluded.version
            """,
            [SQLValue(namespace), SQLValue(version)]
        )
    }
}

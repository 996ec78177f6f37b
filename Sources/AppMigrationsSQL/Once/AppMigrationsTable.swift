internal import AppMigrations

/// The table `app_migrations` of a database, or one of another name: which versions of which manager have run in it, and
/// how far those came that run in batches.
///
/// A row is written in the transaction of its closure, so that the database itself knows what a state file
/// outside of it could not be told any more. One whose `cursor` is `NULL` stands for a version that is done.
package final class AppMigrationsTable: LedgerTable {
    let manager: String
    /// How long each transaction waits for another writer.
    let lockTimeout: Duration

    init(_ session: any SQLSession, named name: String, of manager: String, lockTimeout: Duration) {
        (self.manager, self.lockTimeout) = (manager, lockTimeout)
        super.init(session, named: name, columns: ["manager", "version", "cursor"], required: 2)
    }

    private var isThisRow: String {
        "manager = \(session.placeholder(1)) AND version = \(session.placeholder(2))"
    }

    /// The table's rows of a version.
    enum Place: Equatable {
        case new, begun(String), done

        var cursor: String? { if case .begun(let cursor) = self { cursor } else { nil } }
    }

    func createIfNeeded() throws(SQLError) {
        try read()
        if columns.contains("cursor") { return }
        try session.db.query(
            exists
                ? "ALTER TABLE \(table) ADD COLUMN cursor TEXT"
                : """
                CREATE TABLE \(table) (
                    manager TEXT NOT NULL,
                    version TEXT NOT NULL,
                    cursor TEXT,
                    PRIMARY KEY (manager, version)
                )
                """
        )
        try read()
    }

    /// The place of a version.
    func look(for version: AppVersion) throws(SQLError) -> Place {
        let expected = row(of: version)
        let sql = "SELECT cursor, manager, version FROM \(table) WHERE \(isThisRow)"
        let rows = try session.db.query(sql, expected)
        // A column of numbers takes 1.10 for 1.1, and a collation one manager's name for another's.
        guard rows.count < 2, rows.allSatisfy({ Array($0.dropFirst()) == expected }) else {
            throw unreadable(
                "The table \(name) has rows that seem to be of version \(version), and are not: \(rows)"
            )
        }
        switch rows.first?.first {
        case nil: return .new
        case .null: return .done
        case .text(let cursor): return .begun(cursor)
        case let value?:
            throw unreadable(
                "The table \(name) has a cursor of version \(version) that can't be read: \(value)"
            )
        }
    }

    /// Adds the row of a version that is done, or whose batches have come to a cursor.
    func add(_ version: AppVersion, at cursor: String? = nil) throws(SQLError) {
        let values: [(column: String, value: SQLValue?)] = [
            ("manager", .text(manager)), ("version", .text(Self.text(of: version))),
            ("cursor", SQLValue(cursor)),
        ]
        try insert(values, of: "\(version)", counting: true) { () throws(SQLError) in
            try isThere(version, at: cursor)
        }
    }

    /// Moves the row of a version to another cursor, or to its end.
    func move(_ version: AppVersion, to cursor: String?) throws(SQLError) {
        try session.db.query(
            "UPDATE \(table) SET cursor = \(session.placeholder(3)) WHERE \(isThisRow)",
            row(of: version) + [SQLValue(cursor)]
        )
        if try !isThere(version, at: cursor) { throw notKept("\(version)") }
    }

    func isThere(_ version: AppVersion, at cursor: String?) throws(SQLError) -> Bool {
        try look(for: version) == cursor.map(Place.begun) ?? .done
    }

    /// Removes the rows of this manager above a version.
    func remove(after version: AppVersion) throws(SQLError) {
        let sql = "SELECT version FROM \(table) WHERE manager = \(session.placeholder(1))"
        for row in try session.db.query(sql, [.text(manager)]) {
            guard case .text(let text) = row.first, let found = AppVersion(text) else {
                throw unreadable("The table \(name) has a version that can't be read: \(row)")
            }
            guard found > version else { continue }
            try session.db.query("DELETE FROM \(table) WHERE \(isThisRow)", [.text(manager), .text(text)])
        }
    }

    private func row(of version: AppVersion) -> [SQLValue] {
        [.text(manager), .text(Self.text(of: version))]
    }

    /// One text for equal versions: `1.4` for `1.4.0`, `1.4-1` for `1.4.0-1`.
    static func text(of version: AppVersion) -> String {
        let parts = version.description.split(separator: "-", maxSplits: 1)
        var release = parts[0].split(separator: ".")
        while release.count > 1, release.last == "0" { release.removeLast() }
        return ([release.joined(separator: ".")] + parts.dropFirst().map(String.init)).joined(separator: "-")
    }
}

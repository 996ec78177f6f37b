internal import AppMigrations

/// The table `app_migrations` of a database: which versions of which manager have run in it.
///
/// A row is written in the transaction of its closure, so that the database itself knows what a state file
/// outside of it could not be told any more.
struct AppMigrationsTable {
    let session: any SQLSession
    let manager: String

    private var db: any SQLConnection { session.db }
    private var table: String { session.schema + "app_migrations" }
    private var isThisRow: String {
        "manager = \(session.placeholder(1)) AND version = \(session.placeholder(2))"
    }

    /// Whether the table is there, with its columns.
    func exist() throws(SQLError) -> Bool {
        let rows = try session.columns(of: "app_migrations")
        if rows.isEmpty { return false }
        guard rows.contains(where: { $0.first == "manager" }), rows.contains(where: { $0.first == "version" })
        else {
            throw SQLError(
                .ledgerUnreadable,
                "The table app_migrations has not the columns manager and version"
            )
        }
        return true
    }

    func createIfNeeded() throws(SQLError) {
        if try exist() { return }
        try SQLError.wrapping {
            try db.query(
                """
                CREATE TABLE \(table) (
                    manager TEXT NOT NULL,
                    version TEXT NOT NULL,
                    PRIMARY KEY (manager, version)
                )
                """
            )
        }
    }

    func has(_ version: AppVersion) throws(SQLError) -> Bool {
        let rows = try SQLError.wrapping {
            try db.query("SELECT 1 FROM \(table) WHERE \(isThisRow)", row(of: version))
        }
        return !rows.isEmpty
    }

    func add(_ version: AppVersion) throws(SQLError) {
        let before = try db.count(of: table)
        let (first, second) = (session.placeholder(1), session.placeholder(2))
        try SQLError.wrapping {
            try db.query(
                "INSERT INTO \(table) (manager, version) VALUES (\(first), \(second))",
                row(of: version)
            )
        }
        // A constraint with ON CONFLICT or a trigger can leave the row out without an error, or remove another.
        guard try db.count(of: table) == before + 1, try has(version) else {
            throw SQLError(
                .ledgerUnreadable,
                "The table app_migrations did not keep the row of version \(version), or lost another"
            )
        }
    }

    /// Removes the rows of this manager above a version.
    func remove(after version: AppVersion) throws(SQLError) {
        let rows = try SQLError.wrapping {
            try db.query(
                "SELECT version FROM \(table) WHERE manager = \(session.placeholder(1))",
                [.text(manager)]
            )
        }
        for row in rows {
            guard case .text(let text) = row.first, let marked = AppVersion(text) else {
                throw SQLError(
                    .ledgerUnreadable,
                    "The table app_migrations has a version that can't be read: \(row)"
                )
            }
            guard marked > version else { continue }
            try SQLError.wrapping {
                try db.query("DELETE FROM \(table) WHERE \(isThisRow)", [.text(manager), .text(text)])
            }
        }
    }

    private func row(of version: AppVersion) -> [SQLValue] {
        [.text(manager), .text(Self.text(of: version))]
    }

    /// The same text for equal versions: `1.4` for `1.4.0`, `1.4-1` for `1.4.0-1`.
    static func text(of version: AppVersion) -> String {
        let parts = version.description.split(separator: "-", maxSplits: 1)
        var release = parts[0].split(separator: ".")
        while release.count > 1, release.last == "0" { release.removeLast() }
        return ([release.joined(separator: ".")] + parts.dropFirst().map(String.init)).joined(separator: "-")
    }
}

internal import AppMigrations

/// The table `app_migrations` of a database, or one of another name: which versions of which manager have run in it, and
/// how far those came that run in batches.
///
/// A row is written in the transaction of its closure, so that the database itself knows what a state file
/// outside of it could not be told any more. One whose `cursor` is `NULL` stands for a version that is done.
package final class AppMigrationsTable {
    let session: any SQLSession
    let name: String
    let manager: String

    init(session: any SQLSession, name: String, manager: String) {
        self.session = session
        self.name = name
        self.manager = manager
        table = session.table(name)
    }

    /// The table as it stands in a statement.
    private var table: String
    private var isThisRow: String {
        "manager = \(session.placeholder(1)) AND version = \(session.placeholder(2))"
    }

    /// The table's rows of a version.
    enum Place: Equatable {
        case new, begun(String), done

        var cursor: String? { if case .begun(let cursor) = self { cursor } else { nil } }
    }

    /// Its columns, one a row, none where there is no such table.
    @discardableResult
    func columns() throws(SQLError) -> SQLRows {
        let rows = try session.columns(of: name)
        table = session.table(name, in: rows)
        let names = rows.compactMap { if case .text(let name) = $0.first { name.lowercased() } else { nil } }
        let own = ["manager", "version", "cursor"]
        if let error = SQLError.ofOtherTool(name, names, own: own) { throw error }
        if rows.isEmpty || has("manager", rows) && has("version", rows) { return rows }
        throw SQLError(.ledgerUnreadable, "The table \(name) has not the columns manager and version")
    }

    func has(_ column: String, _ rows: SQLRows) -> Bool { rows.contains { $0.first == .text(column) } }

    func createIfNeeded() throws(SQLError) {
        let rows = try columns()
        if has("cursor", rows) { return }
        if !rows.isEmpty {
            try session.db.query("ALTER TABLE \(table) ADD COLUMN cursor TEXT")
            return
        }
        try session.db.query(
            """
            CREATE TABLE \(table) (
                manager TEXT NOT NULL,
                version TEXT NOT NULL,
                cursor TEXT,
                PRIMARY KEY (manager, version)
            )
            """
        )
        try columns()
    }

    /// The place of a version.
    func look(for version: AppVersion) throws(SQLError) -> Place {
        let expected = row(of: version)
        let sql = "SELECT cursor, manager, version FROM \(table) WHERE \(isThisRow)"
        let rows = try session.db.query(sql, expected)
        // A column of numbers takes 1.10 for 1.1, and a collation one manager's name for another's.
        guard rows.count < 2, rows.allSatisfy({ Array($0.dropFirst()) == expected }) else {
            throw SQLError(
                .ledgerUnreadable,
                "The table \(name) has rows that seem to be of version \(version), and are not: \(rows)"
            )
        }
        switch rows.first?.first {
        case nil: return .new
        case .null: return .done
        case .text(let cursor): return .begun(cursor)
        case let value?:
            throw SQLError(
                .ledgerUnreadable,
                "The table \(name) has a cursor of version \(version) that can't be read: \(value)"
            )
        }
    }

    /// Adds the row of a version that is done, or whose batches have come to a cursor.
    func add(_ version: AppVersion, at cursor: String? = nil) throws(SQLError) {
        let values = (1...3).map(session.placeholder).joined(separator: ", ")
        let before = try session.count(of: table)
        try session.db.query(
            "INSERT INTO \(table) (manager, version, cursor) VALUES (\(values))",
            row(of: version) + [SQLValue(cursor)]
        )
        // A constraint with ON CONFLICT or a trigger can leave the row out without an error, or remove another.
        guard try session.count(of: table) == before + 1 else { throw SQLError.rowNotKept(version, name) }
        try require(version, at: cursor)
    }

    /// Moves the row of a version to another cursor, or to its end.
    func move(_ version: AppVersion, to cursor: String?) throws(SQLError) {
        try session.db.query(
            "UPDATE \(table) SET cursor = \(session.placeholder(3)) WHERE \(isThisRow)",
            row(of: version) + [SQLValue(cursor)]
        )
        try require(version, at: cursor)
    }

    func require(_ version: AppVersion, at cursor: String?) throws(SQLError) {
        let expected = cursor.map(Place.begun) ?? .done
        if try look(for: version) != expected { throw SQLError.rowNotKept(version, name) }
    }

    /// Removes the rows of this manager above a version.
    func remove(after version: AppVersion) throws(SQLError) {
        let sql = "SELECT version FROM \(table) WHERE manager = \(session.placeholder(1))"
        for row in try session.db.query(sql, [.text(manager)]) {
            guard case .text(let text) = row.first, let found = AppVersion(text) else {
                throw SQLError(
                    .ledgerUnreadable,
                    "The table \(name) has a version that can't be read: \(row)"
                )
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

extension SQLError {
    static func begunInBatches(_ version: AppVersion, _ cursor: String) -> SQLError {
        SQLError(
            .ledgerUnreadable,
            "Version \(version) was begun in batches and stands at \"\(cursor)\": what ends it is batches: again"
        )
    }

    fileprivate static func rowNotKept(_ version: AppVersion, _ name: String) -> SQLError {
        SQLError(
            .ledgerUnreadable,
            "The table \(name) did not keep the row of version \(version), or lost another"
        )
    }
}

internal import AppMigrations

/// The table `app_migrations` of a database, or one of another name: which versions of which manager have run in it, and
/// how far those came that run in batches.
///
/// A row is written in the transaction of its closure, so that the database itself knows what a state file
/// outside of it could not be told any more. One whose `cursor` is `NULL` stands for a version that is done.
final class AppMigrationsTable {
    let session: any SQLSession
    let name: String
    let manager: String

    /// Where a version was found that was looked for last.
    private(set) var place = Place.new

    /// Whether the caller's closure has run, and its row was written.
    var hasRun = false

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

    /// What the table says of a version.
    enum Place: Equatable {
        case new, begun(String), done

        var cursor: String? { if case .begun(let cursor) = self { cursor } else { nil } }
    }

    /// Asks for its columns, one a row, none where there is no such table.
    func columns() -> SQLWork {
        session.columns(of: name).noting { (rows: SQLRows) throws(SQLError) in
            self.table = self.session.table(self.name, in: rows)
            if rows.isEmpty || self.has("manager", rows) && self.has("version", rows) { return }
            let names = rows.compactMap {
                if case .text(let name) = $0.first { name.lowercased() } else { nil }
            }
            if let tool = OtherTool(columns: names) { throw tool.error(of: self.name) }
            throw SQLError(
                .ledgerUnreadable,
                "The table \(self.name) has not the columns manager and version"
            )
        }
    }

    func has(_ column: String, _ rows: SQLRows) -> Bool {
        rows.contains { $0.first == .text(column) }
    }

    func createIfNeeded() -> SQLWork {
        columns().then { (rows: SQLRows) throws(SQLError) in
            if self.has("cursor", rows) { return .nothing }
            if !rows.isEmpty { return .statement("ALTER TABLE \(self.table) ADD COLUMN cursor TEXT") }
            return SQLWork.statement(
                """
                CREATE TABLE \(self.table) (
                    manager TEXT NOT NULL,
                    version TEXT NOT NULL,
                    cursor TEXT,
                    PRIMARY KEY (manager, version)
                )
                """
            ).then { self.columns() }
        }
    }

    /// Looks for the place of a version.
    func look(for version: AppVersion) -> SQLWork {
        let expected = row(of: version)
        return SQLWork.statement("SELECT cursor, manager, version FROM \(table) WHERE \(isThisRow)", expected)
            .noting { (rows: SQLRows) throws(SQLError) in
                // A column of numbers takes 1.10 for 1.1, and a collation one manager's name for another's.
                guard rows.count < 2, rows.allSatisfy({ Array($0.dropFirst()) == expected }) else {
                    throw SQLError(
                        .ledgerUnreadable,
                        "The table \(self.name) has rows that seem to be of version \(version), and are not: \(rows)"
                    )
                }
                switch rows.first?.first {
                case nil: self.place = .new
                case .null: self.place = .done
                case .text(let cursor): self.place = .begun(cursor)
                case let value?:
                    throw SQLError(
                        .ledgerUnreadable,
                        "The table \(self.name) has a cursor of version \(version) that can't be read: \(value)"
                    )
                }
            }
    }

    /// Adds the row of a version that is done, or whose batches have come to a cursor.
    func add(_ version: AppVersion, at cursor: String? = nil) -> SQLWork {
        let values = (1...3).map(session.placeholder).joined(separator: ", ")
        let insert = SQLWork.statement(
            "INSERT INTO \(table) (manager, version, cursor) VALUES (\(values))",
            row(of: version) + [SQLValue(cursor)]
        )
        return session.count(of: table) { before in
            insert.then {
                self.session.count(of: self.table) { (after: Int64) throws(SQLError) in
                    // A constraint with ON CONFLICT or a trigger can leave the row out without an error, or remove another.
                    guard after == before + 1 else { throw SQLError.rowNotKept(version, self.name) }
                    return self.require(version, at: cursor)
                }
            }
        }
    }

    /// Moves the row of a version to another cursor, or to its end.
    func move(_ version: AppVersion, to cursor: String?) -> SQLWork {
        SQLWork.statement(
            "UPDATE \(table) SET cursor = \(session.placeholder(3)) WHERE \(isThisRow)",
            row(of: version) + [SQLValue(cursor)]
        ).then { self.require(version, at: cursor) }
    }

    func require(_ version: AppVersion, at cursor: String?) -> SQLWork {
        let expected = cursor.map(Place.begun) ?? .done
        return look(for: version).noting { () throws(SQLError) in
            if self.place != expected { throw SQLError.rowNotKept(version, self.name) }
        }
    }

    /// Removes the rows of this manager above a version.
    func remove(after version: AppVersion) -> SQLWork {
        SQLWork.statement(
            "SELECT version FROM \(table) WHERE manager = \(session.placeholder(1))",
            [.text(manager)]
        ).then { (rows: SQLRows) throws(SQLError) in
            var marked = [AppVersion]()
            for row in rows {
                guard case .text(let text) = row.first, let found = AppVersion(text) else {
                    throw SQLError(
                        .ledgerUnreadable,
                        "The table \(self.name) has a version that can't be read: \(row)"
                    )
                }
                if found > version { marked.append(found) }
            }
            return .each(0..<marked.count) { index in
                .statement("DELETE FROM \(self.table) WHERE \(self.isThisRow)", self.row(of: marked[index]))
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

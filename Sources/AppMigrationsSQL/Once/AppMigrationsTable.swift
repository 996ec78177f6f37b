internal import AppMigrations

/// The table `app_migrations` of a database, or one of another name: which versions of which manager have run in it, and
/// how far those came that run in batches.
///
/// A row is written in the transaction of its closure, so that the database itself knows what a state file
/// outside of it could not be told any more. One whose `cursor` is `NULL` stands for a version that is done.
struct AppMigrationsTable {
    let session: any SQLSession
    let name: String
    let manager: String

    private var table: String { session.table(name) }
    private var isThisRow: String {
        "manager = \(session.placeholder(1)) AND version = \(session.placeholder(2))"
    }

    /// What the table says of a version.
    enum Place: Equatable {
        case new, begun(String), done

        var cursor: String? { if case .begun(let cursor) = self { cursor } else { nil } }
    }

    /// The names of its columns, none where there is no such table.
    func columns() -> SQLWork<[SQLValue]> {
        session.columns(of: name).map { rows in
            let columns = rows.compactMap(\.first)
            if columns.isEmpty || columns.contains("manager") && columns.contains("version") {
                return columns
            }
            let names = columns.compactMap { if case .text(let name) = $0 { name.lowercased() } else { nil } }
            if let tool = OtherTool(columns: names) { throw tool.error(of: name) }
            throw SQLError(
                .ledgerUnreadable,
                "The table \(name) has not the columns manager and version"
            )
        }
    }

    func createIfNeeded() -> SQLWork<Void> {
        columns().then { columns in
            if columns.contains("cursor") { return .nothing }
            if !columns.isEmpty { return .statement("ALTER TABLE \(table) ADD COLUMN cursor TEXT") }
            return .statement(
                """
                CREATE TABLE \(table) (
                    manager TEXT NOT NULL,
                    version TEXT NOT NULL,
                    cursor TEXT,
                    PRIMARY KEY (manager, version)
                )
                """
            )
        }
    }

    func place(of version: AppVersion) -> SQLWork<Place> {
        let expected = row(of: version)
        return SQLWork.rows("SELECT cursor, manager, version FROM \(table) WHERE \(isThisRow)", expected).map
        { rows in
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
    }

    /// Adds the row of a version that is done, or whose batches have come to a cursor.
    func add(_ version: AppVersion, at cursor: String? = nil) -> SQLWork<Void> {
        let values = (1...3).map(session.placeholder).joined(separator: ", ")
        return session.count(of: table).then { before in
            SQLWork.statement(
                "INSERT INTO \(table) (manager, version, cursor) VALUES (\(values))",
                row(of: version) + [SQLValue(cursor)]
            ).then { session.count(of: table) }.then { after in
                // A constraint with ON CONFLICT or a trigger can leave the row out without an error, or remove another.
                guard after == before + 1 else { throw SQLError.rowNotKept(version, name) }
                return require(version, at: cursor)
            }
        }
    }

    /// Moves the row of a version to another cursor, or to its end.
    func move(_ version: AppVersion, to cursor: String?) -> SQLWork<Void> {
        SQLWork.statement(
            "UPDATE \(table) SET cursor = \(session.placeholder(3)) WHERE \(isThisRow)",
            row(of: version) + [SQLValue(cursor)]
        ).then { require(version, at: cursor) }
    }

    func require(_ version: AppVersion, at cursor: String?) -> SQLWork<Void> {
        let expected = cursor.map(Place.begun) ?? .done
        return place(of: version).map { if $0 != expected { throw SQLError.rowNotKept(version, name) } }
    }

    /// Removes the rows of this manager above a version.
    func remove(after version: AppVersion) -> SQLWork<Void> {
        SQLWork.rows(
            "SELECT version FROM \(table) WHERE manager = \(session.placeholder(1))",
            [.text(manager)]
        ).then { rows in
            var marked = [AppVersion]()
            for row in rows {
                guard case .text(let text) = row.first, let version = AppVersion(text) else {
                    throw SQLError(
                        .ledgerUnreadable,
                        "The table \(name) has a version that can't be read: \(row)"
                    )
                }
                marked.append(version)
            }
            return remove(marked.filter { $0 > version }[...])
        }
    }

    private func remove(_ versions: ArraySlice<AppVersion>) -> SQLWork<Void> {
        guard let version = versions.first else { return .nothing }
        return SQLWork.statement("DELETE FROM \(table) WHERE \(isThisRow)", row(of: version))
            .then { remove(versions.dropFirst()) }
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

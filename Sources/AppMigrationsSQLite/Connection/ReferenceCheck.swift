package import AppMigrationsSQL

/// The references of a database during one call: what leads nowhere before its first migration, and after each one.
///
/// All of them are read once. After a migration SQLite checks the tables that were written, made, altered or dropped, and those
/// that refer to them. A connection that doesn't tell which these are has all of them checked.
final class ReferenceCheck {
    private let session: SQLiteSession
    private(set) var orphans: Orphans?
    /// "PRAGMA data_version" changes with what other connections commit.
    private var dataVersion: Int64 = 0

    init(_ session: SQLiteSession) { self.session = session }

    /// Runs `body`, and refuses what leads nowhere afterwards and did not before.
    func checking(_ body: @escaping () -> SQLWork) -> SQLWork {
        session.number(of: "data_version") { now in
            if self.orphans != nil, now == self.dataVersion { return .nothing }
            self.dataVersion = now
            return self.readAll()
        }.then { self.session.notingWrites(of: body) { self.refuseNew(after: $0) } }
    }

    private func refuseNew(after written: Set<SQLName>?) -> SQLWork {
        let before = orphans ?? Orphans()
        return (written.map(readAgain) ?? readAll()).noting { () throws(SQLError) in
            if let error = self.orphans?.excess(over: before) { throw error }
        }
    }

    /// The text is compared and not read, and may hold bytes that are no UTF-8.
    private static let tables =
        "SELECT name, rootpage, CAST(sql AS BLOB) FROM sqlite_master WHERE type = 'table'"

    func readAll() -> SQLWork {
        SQLWork.statement(Self.tables).noting { (rows: SQLRows) throws(SQLError) in
            self.orphans = Orphans()
            _ = try self.orphans?.replaceTables(rows)
        }.then { self.session.tellsOfWrites ? self.readParents() : .nothing }.then {
            SQLWork.statement("PRAGMA foreign_key_check").noting { (rows: SQLRows) throws(SQLError) in
                try self.orphans?.note(rows)
            }.otherwise { error in
                if !error.isOfReference { return .failed(error) }
                return self.readParents().then { self.check(self.orphans?.children(of: nil) ?? []) }
            }
        }
    }

    private func readParents() -> SQLWork {
        SQLWork.statement(
            """
            SELECT child.name, key."table" FROM sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
            WHERE child.type = 'table'
            """
        ).noting { (rows: SQLRows) throws(SQLError) in try self.orphans?.note(parents: rows) }
    }

    /// Reads what the writes to some tables can have changed.
    private func readAgain(after written: Set<SQLName>) -> SQLWork {
        SQLWork.statement(Self.tables).then { (rows: SQLRows) throws(SQLError) in
            let changed = try self.orphans?.replaceTables(rows).union(written) ?? []
            let names = self.orphans?.present(changed) ?? []
            return SQLWork.each(0..<names.count) { index in
                let name = names[index]
                return SQLWork.statement("PRAGMA main.foreign_key_list(\(name.quoted))").noting {
                    (rows: SQLRows) throws(SQLError) in
                    try self.orphans?.note(parents: rows.map { [.text(name.text), $0[2]] }, of: name)
                }
            }.then { self.check(self.orphans?.children(of: changed) ?? []) }
        }
    }

    private func check(_ names: [SQLName]) -> SQLWork {
        .each(0..<names.count) { index in
            let name = names[index]
            return SQLWork.statement("PRAGMA main.foreign_key_check(\(name.quoted))").noting {
                (rows: SQLRows) throws(SQLError) in try self.orphans?.note(rows, of: name)
            }.otherwise { error in
                if !error.isOfReference { return .failed(error) }
                self.orphans?.note(error, of: name)
                return .nothing
            }
        }
    }
}

extension SQLError {
    /// Whether SQLite can't check a reference, since it fits no key, or needs a collation of the app's.
    fileprivate var isOfReference: Bool {
        let kinds = ["foreign key mismatch", "no such collation sequence"]
        return code == .statementFailed && kinds.contains { message.contains($0) }
    }
}

extension Orphans {
    /// Those of a whole database.
    package static func found(in db: SQLiteConnection) throws(SQLError) -> Orphans {
        let check = ReferenceCheck(SQLiteSession(db))
        try check.readAll().run(on: db)
        return check.orphans ?? Orphans()
    }
}

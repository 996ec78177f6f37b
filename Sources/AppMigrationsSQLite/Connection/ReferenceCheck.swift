internal import AppMigrationsSQL

/// The references of a database during one call: what leads nowhere before its first migration, and after each one.
///
/// All of them are read once. After a migration SQLite checks the tables that were written, made, altered or dropped, and those
/// that refer to them. A connection that doesn't tell which these are has all of them checked.
final class ReferenceCheck {
    private let session: SQLiteSession
    private(set) var orphans = Orphans()
    /// The tables that each one refers to.
    private var parents: [SQLName: Set<SQLName>] = [:]
    /// The tables that refer to each one.
    private var children: [SQLName: Set<SQLName>] = [:]
    /// "PRAGMA data_version" changes with what other connections commit; `nil` until all was read.
    private var dataVersion: Int64?

    init(_ session: SQLiteSession) { self.session = session }

    /// Runs `body`, and refuses what leads nowhere afterwards and did not before; tells of what does still.
    func checking(_ body: SQLRules) throws(SQLError) -> [String] {
        let now = try session.number(of: "data_version")
        if now != dataVersion { try readAll() }
        dataVersion = now
        let before = orphans
        if let written = try session.writes(of: body) { try readAgain(after: written) } else { try readAll() }
        if let error = orphans.excess(over: before) { throw error }
        return orphans.sentences
    }

    /// The text is compared and not read, and may hold bytes that are no UTF-8.
    private static let tables =
        "SELECT name, rowid, CAST(sql AS BLOB) FROM sqlite_master WHERE type = 'table'"

    func readAll() throws(SQLError) {
        orphans = Orphans()
        let names = try orphans.replaceTables(session.db.query(Self.tables))
        (parents, children) = ([:], [:])
        if session.tellsOfWrites { try readParents(of: names) }
        do throws(SQLError) {
            try orphans.note(session.db.query("PRAGMA foreign_key_check"))
        } catch {
            if !error.isOfReference { throw error }
            try readParents(of: names)
            for name in parents.keys { try check(name) }
        }
    }

    private func readParents(of names: Set<SQLName>) throws(SQLError) {
        for name in names where !name.isInternal {
            for parent in parents[name] ?? [] { children[parent]?.remove(name) }
            parents[name] = nil
            for row in try session.db.query("PRAGMA main.foreign_key_list(\(name.quoted))") {
                let parent = SQLName(try row.text(2))
                parents[name, default: []].insert(parent)
                children[parent, default: []].insert(name)
            }
        }
    }

    /// Reads what the writes to some tables can have changed.
    private func readAgain(after writes: StatementWatch) throws(SQLError) {
        var changed = writes.names
        // An ALTER tells neither the new name nor which other tables' texts it rewrites. To tell a table that was made again from
        // one that wasn't matters to rows that led nowhere before only, and reading all texts takes a time that grows with them.
        if writes.areAltering || !orphans.isEmpty {
            changed.formUnion(try orphans.replaceTables(session.db.query(Self.tables)))
        }
        try readParents(of: changed)
        var concerned: Set<SQLName> = []
        for name in changed {
            if parents[name] != nil { concerned.insert(name) }
            for child in children[name] ?? [] { concerned.insert(child) }
        }
        for name in concerned { try check(name) }
    }

    private func check(_ name: SQLName) throws(SQLError) {
        do throws(SQLError) {
            try orphans.note(session.db.query("PRAGMA main.foreign_key_check(\(name.quoted))"), of: name)
        } catch {
            if !error.isOfReference { throw error }
            orphans.note(error, of: name)
        }
    }
}

extension SQLError {
    /// True if SQLite can't check a reference, since it fits no key, or needs a collation of the app's.
    fileprivate var isOfReference: Bool {
        let kinds = ["foreign key mismatch", "no such collation sequence"]
        return code == .statementFailed && kinds.contains { message.contains($0) }
    }
}

internal import AppMigrationsSQL

/// The references of a database during one call: what leads nowhere before its first migration, and after each one.
///
/// All of them are read once. After a migration SQLite checks the tables that were written, made, altered or dropped, and those
/// that refer to them. A connection that doesn't tell which these are has all of them checked.
final class ReferenceCheck {
    private let session: SQLiteSession
    private(set) var orphans = Orphans()
    /// The tables to which each one refers.
    private var parents = [SQLName: [SQLName]]()
    /// The tables that refer to each one, or did.
    private var children = [SQLName: [SQLName]]()
    /// "PRAGMA data_version" changes with what other connections commit; `nil` until all was read.
    private var dataVersion: Int64?

    init(_ session: SQLiteSession) { self.session = session }

    /// Runs `body`, and refuses what leads nowhere afterwards and did not before; tells of what does still.
    func checking(at dataVersion: Int64?, _ body: SQLRules) throws(SQLError) -> [String] {
        let now = if let dataVersion { dataVersion } else { try session.number(of: "data_version") }
        if now != self.dataVersion { try readAll() }
        self.dataVersion = now
        let before = orphans
        if let written = try session.writes(of: body) { try readAgain(after: written) } else { try readAll() }
        if let error = orphans.excess(over: before) { throw error }
        return orphans.sentences
    }

    func readAll() throws(SQLError) {
        (orphans, parents, children) = (Orphans(), [:], [:])
        let names = try readTables()
        if session.tellsOfWrites { try readParents(of: names) }
        do throws(SQLError) {
            for row in try session.db.query("PRAGMA foreign_key_check") {
                orphans.lacks[SQLName(try row.text(0)), default: Orphans.Lack()].rows.append(row)
            }
        } catch  where error.isOfReference { for name in names where !name.isInternal { try check(name) } }
    }

    /// Reads which tables there are, and gives the names of those that came, went or changed.
    private func readTables() throws(SQLError) -> [SQLName] {
        var (tables, changed) = ([SQLName: Orphans.Table](), [SQLName]())
        // The text is compared and not read, and may hold bytes that are no UTF-8.
        let sql = "SELECT name, rowid, CAST(sql AS BLOB) FROM sqlite_master WHERE type = 'table'"
        for row in try session.db.query(sql) {
            let (name, table) = (SQLName(try row.text(0)), Orphans.Table(number: row[1], sql: row[2]))
            if orphans.tables[name] != table { changed.append(name) }
            tables[name] = table
        }
        for name in Array(parents.keys) + children.keys where tables[name] == nil { changed.append(name) }
        orphans.tables = tables
        return changed
    }

    private func readParents(of names: [SQLName]) throws(SQLError) {
        for name in names where !name.isInternal {
            let former = parents[name] ?? []
            (parents[name], orphans.lacks[name]) = (nil, nil)
            let list = try session.own?.prepare("PRAGMA main.foreign_key_list(\(name.quoted))")
            while let list, try list.step() {
                let parent = SQLName(try list.text(at: 2))
                parents[name, default: []].append(parent)
                if !former.contains(parent) { children[parent, default: []].append(name) }
            }
        }
    }

    /// Reads what the writes to some tables can have changed.
    private func readAgain(after writes: StatementWatch) throws(SQLError) {
        var changed = writes.names
        // An ALTER tells neither the new name nor which other tables' texts it rewrites. To tell a table that was made again from
        // one that wasn't matters to rows that led nowhere before only, and reading all texts takes a time that grows with them.
        if writes.areAltering || !orphans.isEmpty { changed += try readTables() }
        try readParents(of: changed)
        var checked = Set<SQLName>()
        for name in changed + changed.flatMap({ children[$0] ?? [] }) where checked.insert(name).inserted {
            if parents[name] != nil { try check(name) }
        }
    }

    private func check(_ name: SQLName) throws(SQLError) {
        var lack = Orphans.Lack()
        do throws(SQLError) {
            lack.rows = try session.db.query("PRAGMA main.foreign_key_check(\(name.quoted))")
        } catch  where error.isOfReference { lack.complaint = error }
        orphans.lacks[name] = lack.rows.isEmpty && lack.complaint == nil ? nil : lack
    }
}

extension SQLError {
    /// True if SQLite can't check a reference, since it fits no key, or needs a collation of the app's.
    fileprivate var isOfReference: Bool {
        let kinds = ["foreign key mismatch", "no such collation sequence"]
        return code == .statementFailed && kinds.contains { message.contains($0) }
    }
}

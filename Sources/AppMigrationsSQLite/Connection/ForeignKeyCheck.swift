internal import AppMigrationsSQL

/// Checks the foreign keys of a database before the first migration of a call, and after each migration.
///
/// The first check reads the whole database. After a migration, SQLite checks the tables that were written,
/// created, altered or dropped, and the tables that refer to them. If the connection can't tell which tables
/// these are, all are checked.
final class ForeignKeyCheck {
    private let session: SQLiteSession
    private(set) var violations = ForeignKeyViolations()

    /// The tables that each table refers to.
    private var parents = [SQLName: [SQLName]]()

    /// The tables that refer to each table, or did so earlier in the call.
    private var children = [SQLName: [SQLName]]()

    /// The value of "PRAGMA data_version", which changes when another connection commits; `nil` before the
    /// first check.
    private var dataVersion: Int64?

    init(_ session: SQLiteSession) { self.session = session }

    /// Runs `body`, and throws if it added violations.
    ///
    /// If another connection has committed since the last check, the whole database is checked again first.
    /// `knownDataVersion` is the current `PRAGMA data_version`, or `nil` to read it here.
    ///
    /// - Returns: A sentence for each table that still has violations from before.
    func runChecked(dataVersion knownDataVersion: Int64?, _ body: SQLOperation) throws(SQLError) -> [String] {
        let current =
            if let knownDataVersion { knownDataVersion } else { try session.number(of: "data_version") }
        if current != dataVersion { try checkAll() }
        dataVersion = current
        let before = violations
        if let written = try session.runWatchingWrites(body) {
            try checkTables(after: written)
        } else {
            try checkAll()
        }
        if let error = violations.violationsAdded(since: before) { throw error }
        return violations.sentences
    }

    func checkAll() throws(SQLError) {
        violations = ForeignKeyViolations()
        parents = [:]
        children = [:]
        let names = try readTables()
        if session.reportsWrites { try readParents(of: names) }
        do throws(SQLError) {
            for row in try session.db.query("PRAGMA foreign_key_check") {
                let table = SQLName(try row.text(0))
                violations.results[table, default: ForeignKeyViolations.TableResult()].rows.append(row)
            }
        } catch  where error.preventsForeignKeyCheck {
            // If one table can't be checked, the pragma fails for all. Then each table is checked by itself.
            for name in names where !name.isInternal { try check(name) }
        }
    }

    /// Updates `violations.tables`, and returns the names of the tables that were created, dropped or changed
    /// since the last time.
    private func readTables() throws(SQLError) -> [SQLName] {
        var tables = [SQLName: ForeignKeyViolations.Table]()
        var changed = [SQLName]()
        // The statement is only compared, and may contain bytes that are not UTF-8.
        let sql = "SELECT name, rowid, CAST(sql AS BLOB) FROM sqlite_master WHERE type = 'table'"
        for row in try session.db.query(sql) {
            let name = SQLName(try row.text(0))
            let table = ForeignKeyViolations.Table(schemaRowID: row[1], createStatement: row[2])
            if violations.tables[name] != table { changed.append(name) }
            tables[name] = table
        }
        // The tables that were dropped.
        changed += (Array(parents.keys) + children.keys).filter { tables[$0] == nil }
        violations.tables = tables
        return changed
    }

    private func readParents(of names: [SQLName]) throws(SQLError) {
        for name in names where !name.isInternal {
            let former = parents[name] ?? []
            parents[name] = nil
            let list = try session.ownConnection?.prepare("PRAGMA main.foreign_key_list(\(name.quoted))")
            while let list, try list.step() {
                let parent = SQLName(try list.text(at: 2))
                parents[name, default: []].append(parent)
                if !former.contains(parent) { children[parent, default: []].append(name) }
            }
        }
    }

    /// Checks the tables whose references may have been changed by the watched statements.
    private func checkTables(after written: StatementWatch) throws(SQLError) {
        var changed = written.writtenTables
        // Reading the list of tables takes longer the larger the schema is. So it is read only in two cases:
        // After an ALTER TABLE, because the authorizer reports neither the new name nor the other tables
        // whose statements SQLite rewrites. And if there were violations, because then it matters whether a
        // table was created again.
        if written.altersTables || !violations.isEmpty { changed += try readTables() }
        try readParents(of: changed)
        for name in changed { violations.results[name] = nil }
        var checked = Set<SQLName>()
        for name in changed + changed.flatMap({ children[$0] ?? [] }) where checked.insert(name).inserted {
            if parents[name] != nil { try check(name) }
        }
    }

    private func check(_ name: SQLName) throws(SQLError) {
        var found = ForeignKeyViolations.TableResult()
        do throws(SQLError) {
            found.rows = try session.db.query("PRAGMA main.foreign_key_check(\(name.quoted))")
        } catch  where error.preventsForeignKeyCheck { found.checkError = error }
        violations.results[name] = found.rows.isEmpty && found.checkError == nil ? nil : found
    }
}

extension SQLError {
    /// True if SQLite can't check a foreign key, because it matches no unique index of the parent, or because
    /// it needs a collation that the app hasn't registered on this connection.
    fileprivate var preventsForeignKeyCheck: Bool {
        let messages = ["foreign key mismatch", "no such collation sequence"]
        return code == .statementFailed && messages.contains { message.contains($0) }
    }
}

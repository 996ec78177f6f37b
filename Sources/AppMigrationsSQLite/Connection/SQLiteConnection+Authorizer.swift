internal import AppMigrations
package import AppMigrationsSQL
internal import CAppMigrationsSQLite

/// The tables to which statements were compiled that write, those of triggers among them, and whether a statement is refused.
///
/// A connection has one authorizer. A borrowed one keeps that of its owner: there is no way to ask for it and set it again, and
/// GRDB, for one, does not work without its own.
final class StatementWatch {
    fileprivate var refusals: ScriptRefusals?

    /// The tables; few are written between two looks, and each is in here once.
    private(set) var names = [SQLName]()
    /// True if a statement alters a table.
    private(set) var areAltering = false
    /// The columns that statements read; `nil` where nobody asks.
    fileprivate var reads: [(table: SQLName, column: SQLName)]?

    /// SQLite calls for every column, too, so that texts are made for what matters only.
    fileprivate func allows(
        _ code: Int32,
        _ first: UnsafePointer<CChar>?,
        _ second: UnsafePointer<CChar>?
    ) -> Bool {
        switch code {
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: note(first)
        case SQLITE_ALTER_TABLE: areAltering = true
        // "Also if a column of a table is not referenced, with an empty column name", whichever subquery or view it stands in.
        case SQLITE_READ: note(first, second)
        // Its table may be one to which others refer by the index.
        case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX: note(second)
        default:
            // A statement that runs while another does is SQLite's own, such as the savepoint of a full-text index.
            guard let refusals, refusals.isCompiling else { return true }
            let text = { first.map { String(cString: $0) } ?? "" }
            switch code {
            case SQLITE_TRANSACTION: return refusals.allows(transaction: text())
            case SQLITE_SAVEPOINT:
                return refusals.allows(transaction: text() == "BEGIN" ? "SAVEPOINT" : text())
            case SQLITE_ATTACH: return refusals.allows(transaction: "ATTACH")
            case SQLITE_DETACH: return refusals.allows(transaction: "DETACH")
            case SQLITE_PRAGMA: return refusals.allows(pragma: text(), hasValue: second != nil)
            case SQLITE_DROP_TABLE: refusals.droppedTable = text()
            default: break
            }
        }
        return true
    }

    /// SQLite's own tables refer to none, and its list of all is written by each CREATE.
    private func note(_ name: UnsafePointer<CChar>?) {
        guard let name, sqlite3_strnicmp(name, "sqlite_", 7) != 0 else { return }
        let table = SQLName(String(cString: name))
        if !names.contains(table) { names.append(table) }
    }

    private func note(_ table: UnsafePointer<CChar>?, _ column: UnsafePointer<CChar>?) {
        guard reads != nil, let table, let column else { return }
        reads?.append((SQLName(String(cString: table)), SQLName(String(cString: column))))
    }
}

extension SQLiteConnection {
    /// The watch for which the authorizer is asked, or a new one.
    var watch: StatementWatch { state.withLock { $0.watch } ?? StatementWatch() }

    /// Runs `body` while the authorizer is asked for `watch`.
    func watching(_ watch: StatementWatch, _ body: () throws(SQLError) -> Void) throws(SQLError) {
        let former = state.withLock { $0.watch }
        setWatch(watch)
        defer { setWatch(former) }
        try body()
    }

    private func setWatch(_ watch: StatementWatch?) {
        let former = state.withLock { state in
            defer { state.watch = watch }
            return state.watch
        }
        unlessClosed {
            guard let watch else { return _ = sqlite3_set_authorizer(handle, nil, nil) }
            sqlite3_set_authorizer(
                handle,
                { watch, code, first, second, _, _ in
                    guard let watch else { return SQLITE_DENY }
                    let watched = Unmanaged<StatementWatch>.fromOpaque(watch).takeUnretainedValue()
                    return watched.allows(code, first, second) ? SQLITE_OK : SQLITE_DENY
                },
                Unmanaged.passUnretained(watch).toOpaque()
            )
        }
        // SQLite has the former one up to here.
        withExtendedLifetime(former) {}
    }

    /// The columns that SQLite reads while `body` compiles and runs statements.
    package func reads(
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) -> [(table: SQLName, column: SQLName)] {
        let watch = StatementWatch()
        watch.reads = []
        try watching(watch, body)
        return watch.reads ?? []
    }

    /// Refuses, while `body` compiles statements, what a script in a transaction may not do.
    ///
    /// A statement that a borrowed connection compiled is judged by its first words.
    func withRefusals(_ body: (ScriptRefusals) throws(SQLError) -> Void) throws(SQLError) {
        let (refusals, watch) = (ScriptRefusals(), watch)
        if isBorrowed { return try body(refusals) }
        watch.refusals = refusals
        defer { watch.refusals = nil }
        try watching(watch) { () throws(SQLError) in try body(refusals) }
    }
}

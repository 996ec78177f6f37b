internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Refuses, while `body` compiles statements, what a script in a transaction may not do.
    ///
    /// A borrowed connection keeps the authorizer of its owner: there is no way to ask for it and set it
    /// again, and GRDB, for one, does not work without its own. What SQLite compiled is judged by its first
    /// words then.
    func withRefusals(_ body: (ScriptRefusals) throws(SQLError) -> Void) throws(SQLError) {
        let refusals = ScriptRefusals()
        if isBorrowed { return try body(refusals) }
        sqlite3_set_authorizer(
            handle,
            { refusals, action, first, second, _, _ in
                guard let refusals else { return SQLITE_DENY }
                guard let action = ScriptRefusals.Action(code: action, first, second) else {
                    return SQLITE_OK
                }
                let isAllowed = Unmanaged<ScriptRefusals>.fromOpaque(refusals).takeUnretainedValue().allows(
                    action
                )
                return isAllowed ? SQLITE_OK : SQLITE_DENY
            },
            Unmanaged.passUnretained(refusals).toOpaque()
        )
        defer {
            sqlite3_set_authorizer(handle, nil, nil)
            withExtendedLifetime(refusals) {}
        }
        try body(refusals)
    }
}

extension ScriptRefusals.Action {
    /// What SQLite calls its authorizer with ("Authorizer Action Codes").
    ///
    /// It calls for every column, too, so that texts are made for what matters only.
    fileprivate init?(code: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?) {
        let text = { first.map { String(cString: $0) } }
        switch code {
        case SQLITE_TRANSACTION: self = .transaction(text() ?? "BEGIN")
        case SQLITE_SAVEPOINT:
            let name = text() ?? "SAVEPOINT"
            self = .transaction(name == "BEGIN" ? "SAVEPOINT" : name)
        case SQLITE_ATTACH: self = .transaction("ATTACH")
        case SQLITE_DETACH: self = .transaction("DETACH")
        case SQLITE_PRAGMA: self = .pragma(text() ?? "", hasValue: second != nil)
        case SQLITE_DROP_TABLE: self = .dropTable(text() ?? "")
        default: return nil
        }
    }
}

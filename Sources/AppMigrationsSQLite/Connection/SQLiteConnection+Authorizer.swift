internal import AppMigrations
package import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// The watch that the authorizer reports to, or a new one.
    var watch: StatementWatch { state.withLock { $0.watch } ?? StatementWatch() }

    /// Runs `body` while the authorizer reports to `watch`.
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
                { watch, action, first, second, _, _ in
                    guard let watch else { return SQLITE_DENY }
                    let watched = Unmanaged<StatementWatch>.fromOpaque(watch).takeUnretainedValue()
                    let isAllowed = watched.allows(action: action, first: first, second: second)
                    return isAllowed ? SQLITE_OK : SQLITE_DENY
                },
                Unmanaged.passUnretained(watch).toOpaque()
            )
        }
        // SQLite used the former watch until now.
        withExtendedLifetime(former) {}
    }

    /// The columns that SQLite reads while `body` compiles and runs statements.
    package func reads(
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) -> [(table: SQLName, column: SQLName)] {
        let watch = StatementWatch()
        watch.readColumns = []
        try watching(watch, body)
        return watch.readColumns ?? []
    }

    /// Refuses, while `body` compiles statements, everything that a script in a transaction may not do.
    ///
    /// On a borrowed connection, whose authorizer is the owner's, a statement is judged by its first words.
    func withRefusals(_ body: (ScriptRefusals) throws(SQLError) -> Void) throws(SQLError) {
        let refusals = ScriptRefusals()
        if isBorrowed { return try body(refusals) }
        let watch = watch
        watch.refusals = refusals
        defer { watch.refusals = nil }
        try watching(watch) { () throws(SQLError) in try body(refusals) }
    }
}

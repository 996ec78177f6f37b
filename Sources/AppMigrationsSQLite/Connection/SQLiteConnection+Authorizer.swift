internal import AppMigrations
package import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// The watch that the authorizer reports to; if there is none, a new watch that isn't installed yet.
    func currentOrNewWatch() -> StatementWatch { state.withLock { $0.watch } ?? StatementWatch() }

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
                { watch, action, argument1, argument2, _, _ in
                    guard let watch else { return SQLITE_DENY }
                    let watched = Unmanaged<StatementWatch>.fromOpaque(watch).takeUnretainedValue()
                    let isAllowed = watched.recordAndJudge(
                        action: action,
                        argument1: argument1,
                        argument2: argument2
                    )
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
    /// A borrowed connection keeps its owner's authorizer. So its statements are judged by their first words
    /// instead (`ScriptRefusals.check(_:)`).
    func withRefusals(_ body: (ScriptRefusals) throws(SQLError) -> Void) throws(SQLError) {
        let refusals = ScriptRefusals()
        if isBorrowed { return try body(refusals) }
        let watch = currentOrNewWatch()
        watch.refusals = refusals
        defer { watch.refusals = nil }
        try watching(watch) { () throws(SQLError) in try body(refusals) }
    }
}

internal import AppMigrations
internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Makes a running statement and a wait for a lock answer to the cancellation of their task.
    ///
    /// Both handlers are called on the thread, and so in the task, that runs the statement.
    func installHandlers() {
        installProgressHandler()
        let connection = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_busy_handler(
            handle,
            { connection, count in
                guard let connection else { return 0 }
                return Unmanaged<SQLiteConnection>.fromOpaque(connection).takeUnretainedValue().wait(count)
            },
            connection
        )
    }

    package func installProgressHandler() {
        // Some thousand instructions of SQLite's machine take less than a millisecond.
        sqlite3_progress_handler(handle, 4_000, { _ in Task<Never, Never>.isCancelled ? 1 : 0 }, nil)
    }

    /// Sleeps for a moment, longer each time, until the time-out; 0 gives up.
    private func wait(_ count: Int32) -> Int32 {
        let now = Platform.uptime
        let left = state.withLock { state -> Duration in
            if count == 0 { state.waitingSince = now }
            return state.busyTimeout - (now - state.waitingSince)
        }
        if left <= .zero || Task<Never, Never>.isCancelled { return 0 }
        // The delays of SQLite's own handler.
        let delays: [Int32] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]
        sqlite3_sleep(min(delays[min(Int(count), delays.count - 1)], left.wholeMilliseconds))
        return 1
    }

    /// Does what `PRAGMA busy_timeout` asks for, as a session writes it that meets this connection behind a type of the app's;
    /// `nil` for any other statement.
    ///
    /// SQLite would put its own wait, which no cancellation ends, in the place of this one.
    func busyTimeout(bySQL sql: String) throws(SQLError) -> [[SQLValue]]? {
        let pragma = "PRAGMA busy_timeout"
        guard sql.hasPrefix(pragma), !isBorrowed else { return nil }
        let rest = String(sql.dropFirst(pragma.count))
        if rest.hasPrefix(" = "), let milliseconds = Int64(String(rest.dropFirst(3))) {
            try checkUsable()
            _ = exchangeBusyTimeout(.milliseconds(max(0, milliseconds)))
            installHandlers()
        } else {
            let statement = try prepare(sql)
            // Not zero where a library that borrowed this connection has put its own wait there.
            guard rest.isEmpty, try statement.step(), try statement.value(at: 0) == 0 else { return nil }
        }
        let time = state.withLock { $0.busyTimeout }
        return [[.integer(time <= .zero ? 0 : Int64(time.wholeMilliseconds))]]
    }

    /// Turns foreign keys on without a statement.
    func turnForeignKeysOn() {
        unlessClosed { app_migrations_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nil) }
    }

    /// Sets the wait for locks, and returns the former one.
    func exchangeBusyTimeout(_ time: Duration) -> Duration {
        state.withLock { state in
            defer { state.busyTimeout = time }
            return state.busyTimeout
        }
    }
}

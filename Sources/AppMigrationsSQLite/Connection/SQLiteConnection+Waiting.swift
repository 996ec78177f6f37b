internal import AppMigrations
internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Installs handlers that stop a running statement, and a wait for a lock, when their task is cancelled.
    ///
    /// SQLite calls both handlers on the thread that runs the statement, so `Task.isCancelled` is about the
    /// task of that statement.
    func installHandlers() {
        installProgressHandler()
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context else { return 0 }
                let connection = Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue()
                return connection.waitForLock(attempt: count)
            },
            context
        )
    }

    package func installProgressHandler() {
        // SQLite runs 4,000 instructions of its virtual machine in less than a millisecond.
        sqlite3_progress_handler(handle, 4_000, { _ in Task<Never, Never>.isCancelled ? 1 : 0 }, nil)
    }

    /// Sleeps for a moment, longer each time.
    ///
    /// - Returns: 0 to give up, because the time is over or the task was cancelled; otherwise 1.
    private func waitForLock(attempt: Int32) -> Int32 {
        let now = Platform.uptime
        let left = state.withLock { state -> Duration in
            if attempt == 0 { state.waitingSince = now }
            return state.busyTimeout - (now - state.waitingSince)
        }
        if left <= .zero || Task<Never, Never>.isCancelled { return 0 }
        // The delays of SQLite's own handler.
        let delays: [Int32] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]
        sqlite3_sleep(min(delays[min(Int(attempt), delays.count - 1)], left.wholeMilliseconds))
        return 1
    }

    /// Sets or reads this connection's wait, if `sql` is `PRAGMA busy_timeout`.
    ///
    /// Returns the rows of the pragma; `nil` for any other statement.
    ///
    /// An app may wrap this connection in a type of its own. The migrator only knows that type, so it sends
    /// this pragma as SQL. If SQLite ran it, it would replace this connection's busy handler with its own,
    /// and a cancelled task would keep waiting for the lock.
    func handleBusyTimeoutPragma(_ sql: String) throws(SQLError) -> [[SQLValue]]? {
        let pragma = "PRAGMA busy_timeout"
        guard sql.hasPrefix(pragma), !isBorrowed else { return nil }
        let rest = String(sql.dropFirst(pragma.count))
        if rest.hasPrefix(" = "), let milliseconds = Int64(String(rest.dropFirst(3))) {
            try checkUsable()
            _ = exchangeBusyTimeout(.milliseconds(max(0, milliseconds)))
            // A library that borrowed the connection may have replaced the handlers.
            installHandlers()
        } else {
            let statement = try prepare(sql)
            // The pragma returns 0 as long as this connection's handler is installed. Otherwise a library
            // that borrowed the connection has set its own wait.
            guard rest.isEmpty, try statement.step(), try statement.value(at: 0) == 0 else { return nil }
        }
        let time = state.withLock { $0.busyTimeout }
        return [[.integer(time <= .zero ? 0 : Int64(time.wholeMilliseconds))]]
    }

    /// Remembers that a compiled statement may replace the busy handler.
    ///
    /// ``handleBusyTimeoutPragma(_:)`` recognizes only the text that the migrator sends. If an app writes the
    /// pragma differently or in a script, SQLite runs it, and replaces this connection's busy handler. SQLite
    /// runs the pragma as it compiles it, also after `EXPLAIN`.
    func recordIfBusyTimeoutPragma(_ script: SQLScript, from start: Int, to end: Int) {
        func hasWord(_ word: StaticString, at offset: Int) -> Bool {
            guard offset + word.utf8CodeUnitCount <= end else { return false }
            return (0..<word.utf8CodeUnitCount).allSatisfy {
                SQLName.folded(script.bytes[offset + $0]) == word.utf8Start[$0]
            }
        }
        let first = script.startOfStatement(from: start)
        guard hasWord("pragma", at: first) || hasWord("explain", at: first) else { return }
        if (first..<end).contains(where: { hasWord("busy_timeout", at: $0) }) {
            state.withLock { $0.mayLackBusyHandler = true }
        }
    }

    /// Runs `body`, whose statements wait for a lock for at most `time`.
    ///
    /// If an app's `PRAGMA busy_timeout` has replaced this connection's handlers, they are installed again.
    /// Otherwise `time` and a cancelled task would have no effect on the wait. Afterwards, the connection
    /// waits as long as the app had set before the call.
    func withBusyTimeout(_ time: Duration, _ body: SQLOperation) throws(SQLError) {
        try installReplacedHandlers()
        let before = exchangeBusyTimeout(time)
        state.withLock { $0.lockTimeoutDepth += 1 }
        defer {
            state.withLock { $0.lockTimeoutDepth -= 1 }
            _ = exchangeBusyTimeout(before)
        }
        try body()
    }

    private func installReplacedHandlers() throws(SQLError) {
        // If the connection can't be used, the caller's next statement throws the reason.
        let isNeeded = state.withLock { $0.mayLackBusyHandler && !$0.isClosed && $0.endedBy == nil }
        if !isNeeded { return }
        let statement = try prepare("PRAGMA busy_timeout")
        // The pragma returns 0 while this connection's handler is installed, and also if the app has set 0.
        // Inside of another `withBusyTimeout`, the wait of that call counts.
        if try statement.step(), case .integer(let milliseconds) = try statement.value(at: 0),
            milliseconds > 0, state.withLock({ $0.lockTimeoutDepth }) == 0
        {
            _ = exchangeBusyTimeout(.milliseconds(milliseconds))
        }
        installHandlers()
        state.withLock { $0.mayLackBusyHandler = false }
    }

    /// Sets the wait for locks, and returns the former one.
    func exchangeBusyTimeout(_ time: Duration) -> Duration {
        state.withLock { state in
            defer { state.busyTimeout = time }
            return state.busyTimeout
        }
    }
}

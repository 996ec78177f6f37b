internal import AppMigrationsSQL
internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs `body`, and asks `mayGoOn` some times a second while a statement of it runs; one that may not throws
    /// `SQLError.Code.cancelled`.
    ///
    /// `mayGoOn` must not use the connection: it is called in the midst of a statement.
    func asking<Failure: Error>(
        _ mayGoOn: () -> Bool,
        while body: () throws(Failure) -> Void
    ) throws(Failure) {
        try withoutActuallyEscaping(mayGoOn) { (mayGoOn) throws(Failure) in
            let question = StatementQuestion(mayGoOn)
            unlessClosed {
                sqlite3_progress_handler(
                    handle,
                    4_000,
                    { question in
                        if Task<Never, Never>.isCancelled { return 1 }
                        guard let question else { return 0 }
                        return Unmanaged<StatementQuestion>.fromOpaque(question).takeUnretainedValue()
                            .asksToStop() ? 1 : 0
                    },
                    Unmanaged.passUnretained(question).toOpaque()
                )
            }
            defer { unlessClosed { installProgressHandler() } }
            try withExtendedLifetime(question) { () throws(Failure) in try body() }
        }
    }

    /// How many pages SQLite has read from the file since the connection was opened.
    var readPages: Int {
        let cacheMisses: Int32 = 8  // SQLITE_DBSTATUS_CACHE_MISS
        var (count, highest) = (Int32(0), Int32(0))
        unlessClosed { sqlite3_db_status(handle, cacheMisses, &count, &highest, 0) }
        return Int(count)
    }
}

/// Asks each time that SQLite's machine has run a million instructions, which takes some tenths of a second.
private final class StatementQuestion {
    private let mayGoOn: () -> Bool
    private var calls = 0

    init(_ mayGoOn: @escaping () -> Bool) { self.mayGoOn = mayGoOn }

    func asksToStop() -> Bool {
        calls += 1
        return calls.isMultiple(of: 250) && !mayGoOn()
    }
}

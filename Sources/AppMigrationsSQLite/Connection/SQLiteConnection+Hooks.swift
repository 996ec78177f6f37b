internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Notes from now on that a transaction ends, also where another is begun.
    ///
    /// A savepoint tells the same, but behind one SQLite copies each page before its first change. A borrowed connection
    /// keeps the hooks of its owner.
    func noteEnds() -> TransactionEnds {
        let ends = TransactionEnds()
        // The one reference of the hooks, until they are removed.
        let context = Unmanaged.passRetained(ends).toOpaque()
        sqlite3_commit_hook(
            handle,
            { context in
                TransactionEnds.note(context)
                return 0
            },
            context
        )
        sqlite3_rollback_hook(handle, { TransactionEnds.note($0) }, context)
        return ends
    }

    func removeHooks() {
        sqlite3_commit_hook(handle, nil, nil)
        // It returns what the hook was given ("sqlite3_rollback_hook").
        guard let context = sqlite3_rollback_hook(handle, nil, nil) else { return }
        Unmanaged<TransactionEnds>.fromOpaque(context).release()
    }
}

/// Whether a transaction was committed or rolled back.
final class TransactionEnds {
    private(set) var wereSeen = false

    static func note(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<TransactionEnds>.fromOpaque(context).takeUnretainedValue().wereSeen = true
    }
}

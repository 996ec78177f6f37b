internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs `body` in a transaction, and throws where that one has ended meanwhile, also when another was begun.
    ///
    /// A savepoint tells the same, but behind one SQLite copies each page before its first change. A borrowed connection
    /// keeps the hooks of its owner.
    func keepingTransaction(_ body: () throws -> Void) throws(SQLError) {
        let ends = TransactionEnds()
        let context = Unmanaged.passUnretained(ends).toOpaque()
        sqlite3_commit_hook(
            handle,
            { context in
                TransactionEnds.note(context)
                return 0
            },
            context
        )
        sqlite3_rollback_hook(handle, { TransactionEnds.note($0) }, context)
        defer {
            sqlite3_commit_hook(handle, nil, nil)
            sqlite3_rollback_hook(handle, nil, nil)
            withExtendedLifetime(ends) {}
        }
        do {
            try body()
        } catch {
            throw SQLError.wrapped(error, as: .migrationFailed)
        }
        if ends.wereSeen || !hasTransaction { throw SQLError.endedTransaction }
    }
}

/// Whether a transaction was committed or rolled back.
private final class TransactionEnds {
    private(set) var wereSeen = false

    static func note(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<TransactionEnds>.fromOpaque(context).takeUnretainedValue().wereSeen = true
    }
}

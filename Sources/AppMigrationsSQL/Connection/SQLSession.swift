/// A database as the migrator sees it: the statements that each dialect writes in its own way, and what surrounds a
/// migration there.
package protocol SQLSession {
    /// A parameter, counted from 1.
    func placeholder(_ number: Int) -> String

    /// What stands before the name of a table until its columns are known.
    ///
    /// A temporary table of the same name must not hide it.
    var schema: String { get }

    /// The type of whole numbers with 64 bits.
    var integerType: String { get }

    /// The time now in UTC, as text.
    var now: String { get }

    /// The names and the types of a table's columns, one a row, with the schema where the database has a search path for it; no
    /// row where there is no such table.
    func columns(of table: String) -> SQLWork

    /// Whether the database has a table that a script names.
    func has(_ table: TablesOfTexts.Table) -> SQLWork

    /// Whether a transaction stays open after a statement that failed.
    var goesOnAfterErrors: Bool { get }

    /// The values of a statement with one column, in one row or in many.
    func values(of sql: String) -> SQLWork

    /// Refuses a script that the database would accept and read in another way than its author meant.
    func check(_ script: String) throws(SQLError)

    /// Runs a script in the migration's transaction, which is still there afterwards.
    func run(script: String) -> SQLWork

    /// The statements of a script that is to run outside of a transaction, each of which can run twice; refuses any other
    /// script.
    func statements(ofAlone script: String) throws(SQLError) -> [String]

    /// Fails where a statement outside of a transaction has left an index that no query uses.
    func refuseInvalidIndex(of statement: String) -> SQLWork

    /// The connections that run a statement which begins with a mark, or did so a moment ago, each with the number of the
    /// server's process and the address of its client; no row where none does.
    func isRunning(_ mark: String) -> SQLWork

    /// Begins the transaction of a migration, and waits until no other process is in one.
    func begin(_ lock: SQLLockWait, durably: Bool) -> SQLWork

    /// Takes the migrator's lock in the transaction of a caller.
    func join(_ lock: SQLLockWait) -> SQLWork

    /// Runs `body`, and fails where the transaction is another one afterwards.
    func inOneTransaction(_ body: @escaping () -> SQLWork) -> SQLWork

    /// Rolls back, also where the database has ended the transaction by itself.
    func rollBack() -> SQLWork

    /// Runs `body` with the migrator's wait for locks instead of the connection's.
    func waiting(_ time: Duration, _ body: @escaping () -> SQLWork) -> SQLWork

    /// Runs `body`, which begins a transaction, with foreign keys off.
    ///
    /// Where they were on, each work that is run by `checking` leaves no row that refers to none and did not before it.
    func withoutForeignKeys(_ body: @escaping (_ checking: @escaping SQLWork.Around) -> SQLWork) -> SQLWork

    /// Runs `body`, which begins a transaction, with commits that last when the power fails: at once where they are to be
    /// durable, else as soon as a durable one follows.
    func lasting(durably: Bool, _ body: @escaping () -> SQLWork) -> SQLWork
}

/// How long to wait for the lock of the migrator, and what comes before a wait.
package struct SQLLockWait {
    package let limit: Duration
    /// Called when the lock isn't free; `nil` where nobody is told.
    package let beforeWaiting: (() -> SQLWork)?

    package init(_ limit: Duration, beforeWaiting: (() -> SQLWork)? = nil) {
        self.limit = limit
        self.beforeWaiting = beforeWaiting
    }
}

extension SQLSession {
    /// A table in quotes, in the schema that the rows of its columns tell.
    func table(_ name: String, in columns: SQLRows = []) -> String {
        let quoted = name.quoted(with: "\"")
        guard let row = columns.first, row.count > 2, case .text(let found) = row[2] else {
            return schema + quoted
        }
        return found.quoted(with: "\"") + "." + quoted
    }

    /// How many rows a table has.
    func count(
        of table: String,
        _ next: @escaping (Int64) throws(SQLError) -> SQLWork
    ) -> SQLWork {
        .number("SELECT count(*) FROM \(table)", next)
    }

    /// Runs `body` in a transaction of a migration, and rolls it back after an error.
    package func transaction(
        _ lock: SQLLockWait,
        durably: Bool = false,
        commit: @escaping () -> String = { "COMMIT" },
        _ body: @escaping () -> SQLWork
    ) -> SQLWork {
        begin(lock, durably: durably).then {
            body().then { .statement(commit()) }.otherwise { rollingBack(after: $0) }
        }
    }

    /// Rolls back, and fails with the error that made it necessary.
    package func rollingBack(after error: SQLError) -> SQLWork {
        SQLWork.failed(error).undoing("the rollback", rollBack)
    }

    /// Runs a statement that waits for the lock of the migrator.
    ///
    /// The errors of another library have codes of their own and words in any language. The statement does nothing
    /// but wait, so that one which failed after the whole wait could not have the lock.
    package func lock(with statement: SQLWork, limit: Duration) -> SQLWork {
        let began = ContinuousClock.now
        return statement.failing { error in
            var error = error
            if error.code == .statementFailed, began.duration(to: .now) >= max(limit, .milliseconds(1)) {
                error.code = .busy
            }
            return error
        }
    }

    package func inOneTransaction(_ body: @escaping () -> SQLWork) -> SQLWork {
        behindSavepoint(body)
    }

    /// Runs `body` behind a savepoint, and finds out whether its transaction is still the one it began in: the
    /// savepoint is gone with a transaction that ended.
    package func behindSavepoint(_ body: @escaping () -> SQLWork) -> SQLWork {
        SQLWork.statement("SAVEPOINT app_migrations_guard").then(body).then {
            SQLWork.statement("RELEASE SAVEPOINT app_migrations_guard").failing { error in
                if error.code == .transactionEnded { return error }
                var ended = SQLError.endedTransaction
                ended.underlyingError = error
                return ended
            }
        }
    }
}

extension SQLError {
    package static var endedTransaction: SQLError {
        SQLError(
            .transactionEnded,
            "The migration ended its transaction; what it did before may have been committed, and it is not recorded"
        )
    }
}

extension Duration {
    /// Milliseconds, at least 1 and at most what databases take.
    package var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1_000 else { return .max }
        return max(1, Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    }
}

/// Brings a database's schema up to date: runs each migration that its ledger does not have, once, in order.
///
/// The ledger, the table `schema_migrations`, is in the database itself and is written in the transaction
/// of its migration: both are there or neither. Any number of processes may start at once; each migration
/// is run by one.
///
/// ```swift
/// let migrator = try SQLiteMigrator(SQLiteMigration.files(in: folder))
/// let db = try SQLiteConnection(path: path)
/// try migrator.migrate(db)
/// ```
public struct SQLMigrator<Connection>: Sendable {
    /// The migrations in the order of their versions.
    public let migrations: [SQLMigration<Connection>]

    let steps: SQLSteps

    /// The table that records what was applied.
    package var ledger: String { steps.ledger }

    /// The migrations of one transaction.
    public enum Transactions: Sendable, Hashable {
        /// A transaction for each migration: what is done stays done when a later one fails.
        case eachMigration

        /// One transaction for all that are pending: all are applied, or none.
        case all
    }

    /// The rule where the SQL of a migration is another one than when it was applied.
    public enum ChangedRule: Sendable, Hashable {
        /// ``SQLMigrationReport/changed`` tells it, and what is pending runs.
        case reported

        /// Nothing is run. A text that was inserted in the middle of an array is found so, which gives all behind it
        /// another number. Where nothing is pending, only the newest text is compared: ask for the status.
        case refused
    }

    /// The rule for a pending migration whose version is below one that was applied already.
    ///
    /// Such a migration comes from a branch, for example, that was merged late.
    public enum OutOfOrderRule: Sendable, Hashable {
        /// It runs, and ``SQLMigrationReport/outOfOrder`` has its version.
        case reported

        /// No migration is run, and ``SQLError/Code/outOfOrder`` is thrown.
        case refused
    }

    /// Takes the migrations of an app, and runs none.
    ///
    /// - Parameters:
    ///   - migrations: In any order.
    ///   - ledger: The table that records what was applied. It has one owner: modules that share a database, each
    ///     with a migrator, need a name each.
    ///   - transactions: One transaction for each migration, or one for all.
    ///   - lockTimeout: How long to wait for another process: longer than the longest migration. An SQLite
    ///     connection of another library has this `busy_timeout` during a call, and its own afterwards; a
    ///     busy handler that is a function would be lost. PostgreSQL has it as `lock_timeout`, also for the
    ///     statements of a migration. A statement of a script that locks a table (`ALTER`, `CREATE`, `DROP`, `LOCK`, `TRUNCATE`)
    ///     waits for a second at a time, and others use the table in the pauses between the tries. This also bounds the wait
    ///     for a statement that another host runs outside of a transaction. A closure that sends no statement for so long, and for at least 60
    ///     seconds, loses its transaction there (`idle_in_transaction_session_timeout`): a host that was stopped lets go of its locks.
    ///   - changed: The rule for a migration that was edited after it was applied.
    ///   - outOfOrder: The rule for a pending migration below one that was applied already.
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/duplicateVersion`` or
    ///   ``SQLError/Code/invalidVersion``; ``SQLError/Code/ledgerUnreadable`` for a name that no table can have.
    public init(
        _ migrations: [SQLMigration<Connection>],
        ledger: String = "schema_migrations",
        transactions: Transactions = .eachMigration,
        lockTimeout: Duration = .seconds(60),
        changed: ChangedRule = .reported,
        outOfOrder: OutOfOrderRule = .reported
    ) throws(SQLError) {
        var (all, isInOrder) = ([SQLStep](), true)
        all.reserveCapacity(migrations.count)
        for migration in migrations {
            isInOrder = isInOrder && all.last?.version ?? -1 <= migration.version
            all.insertInOrder(migration.step)
        }
        self.migrations = isInOrder ? migrations : migrations.sorted { $0.version < $1.version }
        steps = SQLSteps(
            all: all,
            ledger: ledger,
            isOneTransaction: transactions == .all,
            refusesChanged: changed == .refused,
            refusesOutOfOrder: outOfOrder == .refused,
            lockTimeout: lockTimeout
        )
        try steps.check()
    }
}

extension SQLMigrator where Connection: SQLConnection {
    /// Runs every migration that the database does not have, in the order of their versions.
    ///
    /// Each runs in a transaction that has the write lock from its beginning, and the ledger is read again
    /// once the lock is there: of any number of processes, one runs it. Foreign keys that are on are off
    /// meanwhile, so that a table can be rebuilt, and a migration that leaves rows which refer to none, and
    /// did not before, is rolled back. When nothing is pending, nothing is locked or written.
    ///
    /// A cancelled task runs no further migration, ends a closure where it reports, and stops a long statement.
    ///
    /// - Parameters:
    ///   - db: A connection that is not in a transaction, unless `insideTransaction` says so.
    ///   - target: The version to stop at, that of a migration; `nil` for all. There is no way down.
    ///   - insideTransaction: True if the caller has begun a transaction. Each migration is a savepoint in
    ///     it then, and is lost when the caller rolls back. Foreign keys stay as they are, since SQLite
    ///     switches them outside of a transaction only, so that dropping a table may delete the rows that
    ///     refer to it.
    ///   - progress: Told after each migration that this call ran, before its commit, and answers whether to continue.
    ///   - waiting: Called each time another process has the lock, before the wait for it begins; on PostgreSQL also before each
    ///     further try of a script that could not have a table.
    /// - Returns: The migrations that this call applied.
    /// - Throws: ``SQLError`` with the version, the file and the place; ``SQLError/applied`` tells what
    ///   stays. Answers of `progress` that leave migrations pending throw ``SQLError/Code/stopped``, so
    ///   that nobody takes the schema for complete.
    @discardableResult
    public func migrate(
        _ db: Connection,
        to target: Int64? = nil,
        insideTransaction: Bool = false,
        progress: (SQLMigrationProgress) -> SQLMigrationProgress.Answer = { _ in .continue },
        waiting: () -> Void = {}
    ) throws(SQLError) -> SQLMigrationReport {
        let run = SQLMigrationRun(
            of: steps,
            in: Connection.dialect.session(SQLConversation(db)),
            to: target,
            insideTransaction: insideTransaction
        )
        try run.session.db.run {
            switch run.call {
            case .closure(let place, let step):
                if case .direct(let code) = migrations[place].code {
                    try code(db) { fraction throws(SQLError) in
                        try run.checkReport(progress(step.reporting(fraction)))
                    }
                }
            case .progress(let done): run.answer = progress(done)
            case .waiting: waiting()
            }
        } _: { () throws(SQLError) in
            try run.run()
        }
        return run.report
    }

    /// Compares the database with the migrations of this app, and changes nothing.
    ///
    /// - Parameter db: A connection.
    /// - Returns: The versions that are applied, pending, unknown, out of order and changed.
    /// - Throws: ``SQLError``: of the database, or of a file that can't be read. A status is never made up.
    public func status(_ db: Connection) throws(SQLError) -> SQLMigrationStatus {
        let ledger = SQLLedger(Connection.dialect.session(SQLConversation(db)), named: steps.ledger)
        return try steps.status(by: ledger)
    }

    /// Records every migration up to a version as applied, without running any of them.
    ///
    /// Call it for a database whose schema was made without this migrator. For a database without tables it would be wrong: none of
    /// its tables would be made. If another library counted its migrations in `user_version`, call
    /// `try migrator.markApplied(upTo: db.userVersion, in: db)` before every `migrate`. If the database has a ledger already, or the
    /// version is 0, the call does nothing.
    ///
    /// - Parameters:
    ///   - version: The version of a migration, or 0.
    ///   - db: A connection that is not in a transaction.
    ///   - correcting: True also records the versions that an existing ledger lacks. Pass it once, if the ledger was made with too low
    ///     a version, or if its rows were deleted. At every start it would record a late migration that has not run.
    /// - Returns: The versions that were recorded.
    /// - Throws: ``SQLError``. If no migration has this version, the code is ``SQLError/Code/unknownTarget``. A version above all
    ///   migrations belongs to a newer release: don't migrate that database.
    @discardableResult
    public func markApplied(
        upTo version: Int64,
        in db: Connection,
        correcting: Bool = false
    ) throws(SQLError) -> [Int64] {
        let ledger = SQLLedger(Connection.dialect.session(SQLConversation(db)), named: steps.ledger)
        return try steps.markApplied(upTo: version, in: ledger, correcting: correcting)
    }
}

/// Brings a database's schema up to date: runs each migration that its ledger doesn't list as applied, once,
/// in the order of the versions.
///
/// The ledger is the table `schema_migrations` in the database itself. A migration and its row in the ledger
/// are written in one transaction, so the database has both or neither. Any number of processes may start at
/// once: each migration is run by one of them.
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

    /// The table that records which versions were applied.
    package var ledger: String { steps.ledger }

    /// Which migrations share a transaction.
    public enum Transactions: Sendable, Hashable {
        /// A transaction for each migration. If a later one fails, the earlier ones stay applied.
        case eachMigration

        /// One transaction for all pending migrations. Either all of them are applied, or none.
        case all
    }

    /// The rule for a migration whose SQL was edited after it was applied.
    public enum EditedVersionsRule: Sendable, Hashable {
        /// The pending migrations run, and ``SQLMigrationReport/editedVersions`` lists the version of the
        /// edited one.
        case reported

        /// No migration is run, and ``SQLError/Code/editedMigration`` is thrown.
        ///
        /// This also finds a script that was inserted in the middle of an array, which changes the numbers of
        /// all scripts after it. If nothing is pending, `migrate` only compares the newest applied migration.
        /// `status` always compares all.
        case refused
    }

    /// The rule for a pending migration whose version is below one that was already applied.
    ///
    /// For example, it may come from a branch that was merged late.
    public enum OutOfOrderRule: Sendable, Hashable {
        /// It runs, and ``SQLMigrationReport/outOfOrder`` lists its version.
        case reported

        /// No migration is run, and ``SQLError/Code/outOfOrder`` is thrown.
        case refused
    }

    /// Creates a migrator for the migrations of an app, and runs none of them.
    ///
    /// - Parameters:
    ///   - migrations: The migrations, in any order.
    ///   - ledger: The table that records which versions were applied. Two migrators must not share one: if
    ///     several modules have a migrator for the same database, each needs another name.
    ///   - transactions: One transaction for each migration, or one for all.
    ///   - lockTimeout: How long to wait for another process. It must be longer than the longest migration.
    ///     - On an SQLite connection of another library, `migrate` sets the `busy_timeout` to this for the
    ///       call, and sets it back afterwards. A busy handler that is a function (`sqlite3_busy_handler`)
    ///       can't be set again, so it is lost.
    ///     - On PostgreSQL, it is the `lock_timeout` of the transaction, also for the migration's own
    ///       statements. If a statement of a script locks a table (`ALTER`, `CREATE`, `DROP`, `LOCK`,
    ///       `TRUNCATE`), each try waits for a second, and others can use the table in the pauses between the
    ///       tries. The tries end when `lockTimeout` is used up. It also limits the wait while another host
    ///       runs a statement outside of a transaction. If a closure sends no statement for `lockTimeout`, or
    ///       for 60 seconds if that is longer, the server ends its transaction
    ///       (`idle_in_transaction_session_timeout`). So a suspended host doesn't keep its locks.
    ///   - editedVersions: The rule for a migration that was edited after it was applied.
    ///   - outOfOrder: The rule for a pending migration below one that was already applied.
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/duplicateVersion`` or
    ///   ``SQLError/Code/invalidVersion``; ``SQLError/Code/ledgerUnreadable`` for a name that no table can
    ///   have.
    public init(
        _ migrations: [SQLMigration<Connection>],
        ledger: String = "schema_migrations",
        transactions: Transactions = .eachMigration,
        lockTimeout: Duration = .seconds(60),
        editedVersions: EditedVersionsRule = .reported,
        outOfOrder: OutOfOrderRule = .reported
    ) throws(SQLError) {
        var all = [SQLStep]()
        var isInOrder = true
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
            refusesEditedVersions: editedVersions == .refused,
            refusesOutOfOrder: outOfOrder == .refused,
            lockTimeout: lockTimeout
        )
        try steps.check()
    }
}

extension SQLMigrator where Connection: SQLConnection {
    /// Runs every migration that isn't applied to the database yet, in the order of their versions.
    ///
    /// Each runs in a transaction that has the write lock from its beginning, and reads the ledger again
    /// under the lock. So each migration is run by one process, however many there are. If nothing is
    /// pending, nothing is locked or written.
    ///
    /// If foreign keys are on, they are switched off while a migration runs, so that it can rebuild a table.
    /// Afterwards they are checked. A migration that added rows that refer to missing rows is rolled back.
    ///
    /// If the task is cancelled, a long statement is interrupted, the next progress report of a closure
    /// throws, and no further migration runs.
    ///
    /// - Parameters:
    ///   - db: A connection that is not in a transaction, unless `insideTransaction` is true.
    ///   - target: The version of the last migration to run; `nil` for all. A version below the current one
    ///     undoes nothing, because applied migrations can't be undone.
    ///   - insideTransaction: True if the caller has begun a transaction. Then each migration is a savepoint
    ///     in it, and is lost if the caller rolls back. Foreign keys stay as they are, because SQLite only
    ///     switches them outside of a transaction. So dropping a table may delete the rows that refer to it.
    ///   - progress: Called after each migration that this call runs, before its commit. It answers whether
    ///     to continue.
    ///   - waiting: Called each time another process has the lock, before the wait for it begins. On
    ///     PostgreSQL, also called before each further try of a script that couldn't lock a table.
    /// - Returns: The migrations that this call applied.
    /// - Throws: ``SQLError`` with the version, the file, the line and the column. ``SQLError/applied`` has
    ///   the versions that stay applied. If an answer of `progress` leaves migrations pending,
    ///   ``SQLError/Code/stopped`` is thrown, so that nobody assumes a complete schema.
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
            in: Connection.dialect.makeSession(SQLConversation(db)),
            to: target,
            insideTransaction: insideTransaction
        )
        try run.session.db.run {
            switch run.callback {
            case .closure(let index, let started):
                if case .direct(let closure) = migrations[index].closure {
                    try closure(db) { fraction throws(SQLError) in
                        try run.continueOrThrow(progress(started.with(fraction: fraction)))
                    }
                }
            case .progress(let done): run.answer = progress(done)
            case .waiting: waiting()
            }
        } _: { () throws(SQLError) in
            try run.run()
        }
        run.reportEnd()
        return run.report
    }

    /// Compares the database with the migrations of this app, and changes nothing.
    ///
    /// - Parameter db: A connection.
    /// - Returns: The versions that are applied, pending, unknown, out of order and edited.
    /// - Throws: ``SQLError`` of the database, or of a file that can't be read.
    public func status(_ db: Connection) throws(SQLError) -> SQLMigrationStatus {
        let ledger = SQLLedger(Connection.dialect.makeSession(SQLConversation(db)), named: steps.ledger)
        return try steps.status(of: ledger)
    }

    /// Records every migration up to a version as applied, without running any of them.
    ///
    /// Call it for a database whose schema was created without this migrator. For a database without tables
    /// it would be wrong, because its tables would never be created. If another library counted its
    /// migrations in `user_version`, call `try migrator.markApplied(upTo: db.userVersion, in: db)` before
    /// every `migrate`. If the database already has a ledger, or if the version is 0, the call does nothing.
    ///
    /// - Parameters:
    ///   - version: The version of a migration, or 0.
    ///   - db: A connection that is not in a transaction.
    ///   - repairingLedger: True also records the versions that an existing ledger lacks. Pass it only if the
    ///     ledger is empty, as the guide *An app on SQLite* does, or if you know that it was created with too
    ///     low a version. Otherwise, a version that a ledger with rows lacks hasn't been completed, even if
    ///     its tables exist. It would be recorded without running.
    /// - Returns: The versions that were recorded.
    /// - Throws: ``SQLError``. If no migration has this version, the code is ``SQLError/Code/unknownTarget``.
    ///   A version above all migrations belongs to a newer release: don't migrate that database.
    @discardableResult
    public func markApplied(
        upTo version: Int64,
        in db: Connection,
        repairingLedger: Bool = false
    ) throws(SQLError) -> [Int64] {
        let ledger = SQLLedger(Connection.dialect.makeSession(SQLConversation(db)), named: steps.ledger)
        return try steps.markApplied(upTo: version, in: ledger, repairingLedger: repairingLedger)
    }
}

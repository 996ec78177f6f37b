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
///
/// ## Topics
///
/// ### Making one
///
/// - ``init(_:ledger:transactions:lockTimeout:changed:)``
/// - ``Transactions``
/// - ``Changed``
/// - ``migrations``
///
/// ### Looking
///
/// - ``status(_:)-8pu6d``
/// - ``status(_:)-861wj``
///
/// ### Taking over an older numbering
///
/// - ``baseline(_:at:)-5bmvs``
/// - ``baseline(_:at:)-574tp``
public struct SQLMigrator<Connection>: Sendable {
    /// The migrations in the order of their versions.
    public let migrations: [SQLMigration<Connection>]

    let steps: SQLSteps

    /// The table that records what was applied.
    package var ledger: String { steps.ledger }

    /// What one transaction holds.
    public enum Transactions: Sendable, Hashable {
        /// A transaction for each migration: what is done stays done when a later one fails.
        case eachMigration

        /// One transaction for all that are pending: all are applied, or none.
        case all
    }

    /// What happens where the SQL of a migration is another one than when it was applied.
    public enum Changed: Sendable, Hashable {
        /// ``SQLMigrationReport/changed`` tells it, and what is pending runs.
        case reported

        /// Nothing is run. A text that was inserted in the middle of an array is found so, which gives all behind it
        /// another number.
        case refused
    }

    /// Takes the migrations of an app, and runs none.
    ///
    /// - Parameters:
    ///   - migrations: In any order.
    ///   - ledger: The table that records what was applied. It has one owner: modules that share a database, each
    ///     with a migrator, need a name each.
    ///   - transactions: What one transaction holds.
    ///   - lockTimeout: How long to wait for another process: longer than the longest migration. An SQLite
    ///     connection of another library has this `busy_timeout` during a call, and its own afterwards; a
    ///     busy handler that is a function would be lost. PostgreSQL has it as `lock_timeout`, also for the
    ///     statements of a migration; statements of a script that lock a table (`ALTER`, `CREATE`, `DROP`, `LOCK`, `TRUNCATE`)
    ///     wait for it in tries of 2, 4, 8 … seconds, between which others reach the table. It bounds the wait for a statement
    ///     that another host runs outside of a transaction, too. A closure that sends no statement for so long, and for at least 60
    ///     seconds, loses its transaction there (`idle_in_transaction_session_timeout`): a host that was stopped lets go of its locks.
    ///   - changed: What happens where a migration was edited after it was applied.
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/duplicateVersion`` or
    ///   ``SQLError/Code/invalidVersion``; ``SQLError/Code/ledgerUnreadable`` for a name that no table can have.
    public init(
        _ migrations: [SQLMigration<Connection>],
        ledger: String = "schema_migrations",
        transactions: Transactions = .eachMigration,
        lockTimeout: Duration = .seconds(60),
        changed: Changed = .reported
    ) throws(SQLError) {
        var steps = [SQLStep]()
        steps.reserveCapacity(migrations.count)
        for migration in migrations { steps.append(migration.step) }
        let isInOrder = try SQLSteps.check(steps, ledger)
        // Mostly they are, and the first sort of a process costs as much as all the rest of an idle check.
        if isInOrder {
            self.migrations = migrations
        } else {
            self.migrations = migrations.sorted { $0.version < $1.version }
            steps = try SQLSteps.sorted(steps)
        }
        self.steps = SQLSteps(
            all: steps,
            ledger: ledger,
            isOneTransaction: transactions == .all,
            refusesChanged: changed == .refused,
            lockTimeout: lockTimeout
        )
    }
}

/// One step of a database's schema: its version, and the SQL or the closure that takes the database there.
///
/// A migration is applied once in the life of a database. Never edit it after a release: a database to which
/// it was already applied doesn't run it again, so it would not get the change.
public struct SQLMigration<Connection>: Sendable {
    /// The version, which is 0 or higher.
    ///
    /// Migrations run in the order of their versions.
    public var version: Int64 { step.version }

    /// The migration's name in errors, in progress and in the ledger.
    public var name: String? { step.name }

    /// The path of the file with its SQL; `nil` if there is no file.
    package var file: String? { step.file }

    /// The checksum of its SQL; `nil` for a closure.
    package func checksum() throws(SQLError) -> String? { try step.checksum() }

    let step: SQLStep
    /// The closure of a migration without SQL.
    let closure: Closure?

    /// Reports how much of a closure's work is done, from 0 to 1.
    ///
    /// It calls the `progress` closure of the migrator. It throws if that closure doesn't answer `continue`,
    /// or if the task was cancelled. Don't catch that error.
    public typealias ProgressHandler = (_ fraction: Double) throws(SQLError) -> Void

    typealias AwaitedClosure =
        nonisolated(nonsending) @Sendable (Connection, ProgressHandler)
        async throws -> Void

    enum Closure: Sendable {
        case direct(@Sendable (Connection, ProgressHandler) throws -> Void)
        case awaited(AwaitedClosure)
    }

    /// A migration of one or many statements, written without BEGIN and COMMIT.
    ///
    /// - Parameters:
    ///   - version: The version, which is 0 or higher.
    ///   - name: The name of the migration in errors, in progress and in the ledger.
    ///   - sql: The statements.
    ///   - inTransaction: False for a single statement that PostgreSQL refuses in a transaction, for example
    ///     `CREATE INDEX CONCURRENTLY`. It is recorded after it has run, so it runs **at least once**: write
    ///     it so that it can run twice. In a file, write `-- app-migrations: no transaction` as the first
    ///     line instead.
    public init(version: Int64, name: String? = nil, sql: String, inTransaction: Bool = true) {
        step = SQLStep(version: version, name: name, script: sql, runsOutsideTransaction: !inTransaction)
        closure = nil
    }

    init(_ step: SQLStep) {
        self.step = step
        closure = nil
    }

    /// Migrations for an array of scripts, numbered in its order.
    ///
    /// Only append to the array.
    ///
    /// Two migrators must not share a ledger. So if two modules have scripts for the same database, either
    /// combine both lists in one migrator, with numbers that don't overlap, or give each module its own
    /// migrator with its own ledger.
    ///
    /// - Parameters:
    ///   - scripts: A script of one or many statements for each migration.
    ///   - first: The version of the first migration.
    /// - Returns: The migrations, in the order of `scripts`.
    public static func numbered(_ scripts: [String], startingAt first: Int64 = 1) -> [SQLMigration] {
        // Not `map`: its first call in a process instantiates generic types, which takes longer than a whole
        // `migrate` that has nothing to run.
        var migrations = [SQLMigration]()
        for script in scripts {
            migrations.append(SQLMigration(version: first + Int64(migrations.count), sql: script))
        }
        return migrations
    }
}

extension SQLMigration where Connection: SQLConnection {
    /// A migration in Swift.
    ///
    /// The closure runs in a transaction that it must not end. If it throws, its migration is rolled back. If
    /// it takes long, it can report its progress: `try report(0.5)`.
    public init(
        version: Int64,
        name: String? = nil,
        run: @escaping @Sendable (Connection, ProgressHandler) throws -> Void
    ) {
        step = SQLStep(version: version, name: name)
        closure = .direct(run)
    }
}

extension SQLMigration where Connection: AsyncSQLConnection {
    /// A migration in Swift, on an asynchronous connection.
    ///
    /// The closure runs in a transaction that it must not end, on the actor of the migrator's caller. If it
    /// throws, its migration is rolled back. If other code uses the connection while the closure is
    /// suspended, its statements become part of the transaction. If the closure takes long, it can report its
    /// progress: `try report(0.5)`.
    public init(
        version: Int64,
        name: String? = nil,
        run: nonisolated(nonsending) @escaping @Sendable (Connection, ProgressHandler) async throws -> Void
    ) {
        step = SQLStep(version: version, name: name)
        closure = .awaited(run)
    }
}

extension SQLMigration: CustomStringConvertible {
    /// The file, or the version with the name: `4 (folders)`.
    public var description: String { step.label }
}

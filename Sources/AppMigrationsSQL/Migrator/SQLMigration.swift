/// One step of a database's schema: its version, and the SQL or the closure that takes the database there.
///
/// A migration is applied once in the life of a database, and never edited after a release: databases that
/// have it would not get the change.
public struct SQLMigration<Connection>: Sendable {
    /// The version, from 0 on; migrations run in its order.
    public var version: Int64 { step.version }

    /// The migration's name in errors, in progress and in the ledger.
    public var name: String? { step.name }

    /// The path of the file that holds its SQL, where there is one.
    package var file: String? { step.file }

    /// The fingerprint of its SQL; `nil` for a closure.
    package func checksum() throws(SQLError) -> String? { try step.checksum() }

    let step: SQLStep
    /// The closure of a migration without SQL.
    let code: Code?

    /// How a closure tells how much of its work is done, from 0 to 1.
    ///
    /// The closure for `progress` of the migrator is called with it. It throws where the answer is not to continue, or the task
    /// is cancelled: let that error through.
    public typealias ProgressHandler = (_ fraction: Double) throws(SQLError) -> Void

    typealias AwaitedClosure =
        nonisolated(nonsending) @Sendable (Connection, ProgressHandler)
        async throws -> Void

    enum Code: Sendable {
        case direct(@Sendable (Connection, ProgressHandler) throws -> Void)
        case awaited(AwaitedClosure)
    }

    /// A migration of one or many statements, written without BEGIN and COMMIT.
    ///
    /// - Parameters:
    ///   - version: The version, from 0 on.
    ///   - name: The name of the migration in errors, in progress and in the ledger.
    ///   - sql: The statements.
    ///   - inTransaction: `false` for the one statement that PostgreSQL refuses in a transaction, `CREATE INDEX CONCURRENTLY`
    ///     for instance. It is recorded after it has run, so it runs **at least once**: write it so that it can run twice. A
    ///     file has `-- app-migrations: no transaction` as its first line instead.
    public init(version: Int64, name: String? = nil, sql: String, inTransaction: Bool = true) {
        step = SQLStep(version: version, name: name, script: sql, isAlone: !inTransaction)
        code = nil
    }

    init(_ step: SQLStep) {
        self.step = step
        code = nil
    }

    /// Migrations of texts, numbered in the order of an array that only ever grows at its end.
    ///
    /// A ledger has one owner: two lists in one database, of two modules for instance, need numbers that don't
    /// overlap and one migrator for both, or a migrator each with a ledger of its own.
    ///
    /// - Parameters:
    ///   - scripts: A text for each migration, of one or many statements.
    ///   - first: The version of the first one.
    /// - Returns: The migrations, in the order of the texts.
    public static func numbered(_ scripts: [String], startingAt first: Int64 = 1) -> [SQLMigration] {
        // A `map` would have generic types built, which takes longer than an idle check.
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
    /// The closure runs in a transaction that it must not end. What it throws rolls its migration back. One that takes long
    /// reports how far it is: `try report(0.5)`.
    public init(
        version: Int64,
        name: String? = nil,
        run: @escaping @Sendable (Connection, ProgressHandler) throws -> Void
    ) {
        step = SQLStep(version: version, name: name)
        code = .direct(run)
    }
}

extension SQLMigration where Connection: AsyncSQLConnection {
    /// A migration in Swift, on a connection that is awaited.
    ///
    /// The closure runs in a transaction that it must not end, on the actor of the migrator's caller. What it throws rolls
    /// its migration back. Whatever else uses the connection while the closure is suspended is in its transaction. One that
    /// takes long reports how far it is: `try report(0.5)`.
    public init(
        version: Int64,
        name: String? = nil,
        run: nonisolated(nonsending) @escaping @Sendable (Connection, ProgressHandler) async throws -> Void
    ) {
        step = SQLStep(version: version, name: name)
        code = .awaited(run)
    }
}

extension SQLMigration: CustomStringConvertible {
    /// The file, or the version with the name: `4 (folders)`.
    public var description: String { step.label }
}

/// One step of a database's schema: its version, and the SQL or the closure that takes the database there.
///
/// A migration is applied once in the life of a database, and never edited after a release: databases that
/// have it would not get the change.
public struct SQLMigration<Connection: SQLConnection>: Sendable {
    /// The version, from 0 on; migrations run in its order.
    public var version: Int64 { step.version }

    /// What the migration is called in errors, in progress and in the ledger.
    public var name: String? { step.name }

    let step: SQLStep
    /// The closure of a migration without SQL.
    let code: (@Sendable (Connection) throws -> Void)?

    /// A migration of one or many statements, written without BEGIN and COMMIT.
    public init(version: Int64, name: String? = nil, sql: String) {
        step = SQLStep(version: version, name: name, source: .text(sql))
        code = nil
    }

    /// A migration in Swift.
    ///
    /// The closure runs in a transaction that it must not end. What it throws rolls its migration back.
    public init(version: Int64, name: String? = nil, run: @escaping @Sendable (Connection) throws -> Void) {
        step = SQLStep(version: version, name: name, source: nil)
        code = run
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
        zip(scripts.indices, scripts).map { SQLMigration(version: first + Int64($0), sql: $1) }
    }
}

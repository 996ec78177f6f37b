/// One step of a database's schema: its version, and the SQL or the closure that takes the database there.
///
/// A migration is applied once in the life of a database, and never edited after a release: databases that
/// have it would not get the change.
public struct SQLMigration<Connection: SQLConnection>: Sendable {
    /// The version, from 0 on; migrations run in its order.
    public let version: Int64

    /// What the migration is called in errors, in progress and in the ledger.
    public let name: String?

    let body: Body

    enum Body: Sendable {
        case script(Source)
        case code(@Sendable (Connection) throws -> Void)
    }

    /// Where the SQL of a migration is.
    enum Source: Sendable {
        case text(String)
        case file(String)
    }

    init(version: Int64, name: String?, body: Body) {
        self.version = version
        self.name = name
        self.body = body
    }

    /// A migration of one or many statements, written without BEGIN and COMMIT.
    public init(version: Int64, name: String? = nil, sql: String) {
        self.init(version: version, name: name, body: .script(.text(sql)))
    }

    /// A migration in Swift.
    ///
    /// The closure runs in a transaction that it must not end. What it throws rolls its migration back.
    public init(version: Int64, name: String? = nil, run: @escaping @Sendable (Connection) throws -> Void) {
        self.init(version: version, name: name, body: .code(run))
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

    /// The path of the file that holds the SQL, where there is one.
    var file: String? {
        if case .script(.file(let path)) = body { path } else { nil }
    }

    /// The version with the name or the file, for an error.
    var label: String {
        file ?? name.map { "\(version) (\($0))" } ?? "\(version)"
    }

    /// Tells an error which migration it is about, and which file where the file can be at fault.
    func located(_ error: SQLError, blamesFile: Bool = true) -> SQLError {
        var error = error
        error.version = version
        error.migrationName = name
        if let file, blamesFile, !error.code.isOfDatabase {
            error.path = file
            error.hasPlaceInFile = true
        }
        return error
    }
}

import Testing

@testable import AppMigrationsSQL
@testable import AppMigrationsSQLite

/// Errors of a server, whose descriptions tell nothing.
@Suite struct ServerErrorTests {
    private typealias Other = SQLMigrator<OtherConnection>

    private static func failure(_ state: String?) -> OtherConnection.Failure {
        let server = ServerError(
            message: "so nicht",
            sqlState: state,
            detail: "Das Detail.",
            hint: "Der Rat"
        )
        return OtherConnection.Failure(description: "database is locked", server: server)
    }

    @Test(
        arguments: [
            ("55P03", .busy), ("40001", .busy), ("40P01", .busy), ("25006", .readOnly),
            ("42501", .readOnly), ("53100", .diskFull), ("25P02", .transactionEnded),
            ("25P03", .transactionEnded), ("53300", .statementFailed), (nil, .statementFailed),
        ] as [(String?, SQLError.Code)]
    )
    func `the code is told by the SQLSTATE, and the message by the server`(
        state: String?,
        code: SQLError.Code
    ) throws {
        let db = OtherConnection(try memory()) { sql in
            if sql.hasPrefix("CREATE") { throw Self.failure(state) }
        }
        let error = try sqlError { try Other([SQLMigration(version: 1, sql: "SELECT 1")]).migrate(db) }
        #expect((error.code, error.sqlState) == (code, state))
        #expect(error.message == "so nicht. Das Detail. Der Rat")
        #expect(!error.code.saysNoMigrationWasRun)
        let advice = error.code.advice.map { " \($0)" } ?? ""
        let place = state.map { " (SQLSTATE \($0))" } ?? ""
        #expect(error.description == "Migration 1: so nicht. Das Detail. Der Rat\(place).\(advice)")
        // No further try gives a role its rights.
        if state == "42501" { #expect(!advice.contains("ry again")) }
    }

    @Test func `a closure's error has the server's words as well`() throws {
        let migration = SQLMigration<OtherConnection>(version: 1) { _, _ in throw Self.failure("23505") }
        let error = try sqlError { try Other([migration]).migrate(OtherConnection(try memory())) }
        #expect(error.code == .migrationFailed)
        #expect(error.description == "Migration 1: so nicht. Das Detail. Der Rat (SQLSTATE 23505).")
        #expect(error.underlyingError is OtherConnection.Failure)
    }
}

/// A migrator's outcomes, as `print` shows them.
@Suite struct SQLMigratorDescriptionTests {
    private let first = Migration(version: 1, name: "tables", sql: "CREATE TABLE a(x)")
    private let second = Migration(version: 2, sql: "CREATE TABLE b(x)")
    private let third = Migration(version: 3, sql: "CREATE TABLE c(x)")

    @Test func `a report tells what the call did`() throws {
        let db = try memory()
        let old = try Migrator([first, third])
        #expect("\(try old.migrate(db))" == "Applied: 1, 3.")
        #expect("\(try old.migrate(db))" == "Nothing was pending.")
        #expect("\(try Migrator([first, second, third]).migrate(db))" == "Applied: 2. Out of order: 2.")
        let edited = Migration(version: 2, sql: "CREATE TABLE b(x, y)")
        #expect(
            "\(try Migrator([first, edited]).migrate(db))"
                == "Applied: none. Edited after it was applied: 2. Unknown: 3."
        )
    }

    @Test func `a status tells how far the schema is`() throws {
        let db = try memory()
        let all = try Migrator([first, second, third])
        #expect("\(try all.status(db))" == "No ledger. Pending: 1 (tables), 2, 3.")
        try all.migrate(db, to: 1)
        #expect("\(try all.status(db))" == "At version 1. Applied: 1. Pending: 2, 3.")
        try db.query("DELETE FROM schema_migrations")
        #expect("\(try all.status(db))" == "Nothing applied. Pending: 1 (tables), 2, 3.")
    }

    @Test func `a migration is its version with the name, or its file`() throws {
        #expect("\([first, second])" == "[1 (tables), 2]")
        try withTemporaryFolder { folder in
            try write("CREATE TABLE a(x)", to: folder + "/1_tables.sql")
            #expect("\(try Migration.files(in: folder))" == "[\(folder)/1_tables.sql]")
        }
    }
}

import AppMigrationsSQLite
import Testing

/// Migrations outside of a transaction, as far as no server is needed to refuse them.
@Suite(.watchdog) struct SQLMigratorAloneTests {
    private let marked = "-- app-migrations: no transaction\nVACUUM"

    private let server = Postgres()

    /// A migration that is refused runs nothing: the server is asked, and no more.
    private func refused(_ body: () throws -> SQLMigrationReport) throws -> SQLError {
        let error = try sqlError { try body() }
        #expect(server.statements.allSatisfy { $0.hasPrefix("SELECT") }, "\(server.statements)")
        return error
    }

    @Test func `SQLite refuses a migration without a transaction`() throws {
        let db = try memory()
        let migrator = try Migrator([
            Migration(version: 1, sql: "CREATE TABLE a(x)"),
            Migration(version: 2, sql: "VACUUM", inTransaction: false),
        ])
        let error = try sqlError { try migrator.migrate(db) }
        #expect(
            error.description
                == "Migration 2: On SQLite, every migration runs in a transaction. Run VACUUM and other statements that"
                + " can't be in a transaction yourself, without the migrator."
        )
        #expect(error.code == .refusedStatement)
        #expect(try tables(in: db) == [])
        #expect(
            try sqlError { try Migrator([Migration(version: 1, sql: marked)]).migrate(db) }.code
                == .refusedStatement
        )
    }

    @Test(arguments: [("VACUUM; VACUUM", 2), ("-- nothing", 0)])
    func `it has one statement`(sql: String, count: Int) throws {
        let words =
            "A script outside of a transaction may have only one statement, because if a second one failed, the first could"
            + " not be rolled back. This one has \(count) statements."
        for script in [
            "-- app-migrations: no transaction\n" + sql,
            "\u{FEFF}--  App-Migrations:  No Transaction \r\n" + sql,
        ] {
            let migrator = try SQLMigrator<Postgres>([
                SQLMigration(version: 1, sql: "SELECT 1"), SQLMigration(version: 2, sql: script),
            ])
            let error = try refused { try migrator.migrate(server) }
            #expect(error.code == .invalidScript)
            #expect(error.message.hasPrefix(words))
            #expect(error.version == 2)
        }
    }

    @Test func `where all share a transaction it is refused, before anything runs`() throws {
        let alone = SQLMigration<Postgres>(version: 1, sql: marked)
        for error in [
            try refused { try SQLMigrator([alone], transactions: .all).migrate(server) },
            try refused { try SQLMigrator([alone]).migrate(server, insideTransaction: true) },
        ] {
            #expect(error.code == .refusedStatement)
            #expect(
                error.message.hasPrefix("It must run outside of a transaction, but this call uses one")
            )
        }
    }

    @Test func `a first line that asks for anything else is an error`() throws {
        let migration = SQLMigration<Postgres>(version: 1, sql: "-- app-migrations: no transactions\nVACUUM")
        let error = try refused { try SQLMigrator([migration]).migrate(server) }
        #expect(error.code == .invalidScript)
        #expect(
            error.message
                == "The first line asks for \"no transactions\", and only \"no transaction\" is known"
        )
        #expect((error.line, error.column) == (1, 1))
    }
}

import AppMigrationsSQLite
import Testing

@testable import AppMigrationsSQL

/// Migrations outside of a transaction, as far as no server is needed to refuse them.
@Suite struct SQLMigratorAloneTests {
    /// A connection that must not be asked to run anything.
    private struct Postgres: SQLConnection {
        static var dialect: SQLDialect { .postgres }

        func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
            if !sql.hasPrefix("SELECT") { Issue.record("it has run \(sql)") }
            return []
        }

        func execute(script: String) throws { Issue.record("it has run \(script)") }
    }

    private let marked = "-- app-migrations: no transaction\nVACUUM"

    @Test func `SQLite refuses a migration without a transaction`() throws {
        let db = try memory()
        let migrator = try Migrator([
            Migration(version: 1, sql: "CREATE TABLE a(x)"),
            Migration(version: 2, sql: "VACUUM", inTransaction: false),
        ])
        let error = try sqlError { try migrator.migrate(db) }
        #expect(
            error.description
                == "Migration 2: SQLite runs every migration in a transaction. What it can't do in one, as VACUUM, belongs beside"
                + " the migrator."
        )
        #expect(error.code == .refusedStatement)
        #expect(try tables(in: db) == [])
        #expect(
            try sqlError { try Migrator([Migration(version: 1, sql: marked)]).migrate(db) }.code
                == .refusedStatement
        )
    }

    @Test(
        arguments: [
            (
                "VACUUM; VACUUM",
                "A script outside of a transaction has one statement, and this one has 2: after the first one"
            ),
            (
                "-- nothing",
                "A script outside of a transaction has one statement, and this one has 0: after the first one"
            ),
        ]
    )
    func `it has one statement`(sql: String, words: String) throws {
        for script in [
            "-- app-migrations: no transaction\n" + sql,
            "\u{FEFF}--  App-Migrations:  No Transaction \r\n" + sql,
        ] {
            let migrator = try SQLMigrator<Postgres>([
                SQLMigration(version: 1, sql: "SELECT 1"), SQLMigration(version: 2, sql: script),
            ])
            let error = try sqlError { try migrator.migrate(Postgres()) }
            #expect(error.code == .invalidScript)
            #expect(error.message.hasPrefix(words))
            #expect(error.version == 2)
        }
    }

    @Test func `where all share a transaction it is refused, before anything runs`() throws {
        let alone = SQLMigration<Postgres>(version: 1, sql: marked)
        for error in [
            try sqlError { try SQLMigrator([alone], transactions: .all).migrate(Postgres()) },
            try sqlError { try SQLMigrator([alone]).migrate(Postgres(), insideTransaction: true) },
        ] {
            #expect(error.code == .refusedStatement)
            #expect(
                error.message.hasPrefix("It runs outside of a transaction, and this call has one for all")
            )
        }
    }

    @Test func `a first line that asks for anything else is an error`() throws {
        let migration = SQLMigration<Postgres>(version: 1, sql: "-- app-migrations: no transactions\nVACUUM")
        let error = try sqlError { try SQLMigrator([migration]).migrate(Postgres()) }
        #expect(error.code == .invalidScript)
        #expect(
            error.message
                == "The first line asks for \"no transactions\", and there is only \"no transaction\""
        )
        #expect((error.line, error.column) == (1, 1))
    }
}

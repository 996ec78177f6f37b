import AppMigrationsSQLite
import SQLTestSupport
import Testing

@testable import AppMigrationsSchema

struct ProbeSavepointTests {
    @Test func `a probe that fails leaves no savepoint open, and changes nothing`() throws {
        let db = try memory()
        try db.query("CREATE TABLE t(a)")
        let error = #expect(throws: SQLError.self) {
            try db.inRolledBackSavepoint { () throws(SQLError) in
                try db.rows("INSERT INTO t VALUES (1)")
                try db.rows("INSERT INTO missing VALUES (1)")
            }
        }
        #expect(error?.message.contains("missing") == true)
        #expect(try !db.isInTransaction)
        #expect(try db.query("SELECT * FROM t") == [])
    }

    @Test func `a probe that fails in the app's transaction leaves that transaction open`() throws {
        let db = try memory()
        try db.query("CREATE TABLE t(a)")
        try db.query("BEGIN")
        try db.query("INSERT INTO t VALUES (0)")
        #expect(throws: SQLError.self) {
            try db.inRolledBackSavepoint { () throws(SQLError) in
                try db.rows("INSERT INTO t VALUES (1)")
                throw SQLError(.statementFailed, "no")
            }
        }
        #expect(throws: SQLError.self) { try db.query("RELEASE app_migrations_probe") }
        try db.query("COMMIT")
        #expect(try db.query("SELECT a FROM t") == [[0]])
    }
}

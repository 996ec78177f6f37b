import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

@Suite struct RebuildRefusalTests {
    @Test(arguments: Refusal.ofTables + Refusal.ofColumns + Refusal.ofValues + Refusal.ofRows)
    func `nothing is changed, and the error says why and what to do`(_ refusal: Refusal) throws {
        let db = try database(refusal.before)
        let rebuild = TableRebuild(
            refusal.table,
            as: refusal.createTable,
            values: refusal.values,
            dropping: refusal.dropping
        )
        let error = try refused(db) { try rebuild.run(db) }
        #expect(error.description.hasPrefix(refusal.message), "\(error)")
        if error.code == .refusedSchemaChange { #expect(error.description == refusal.message) }

        try db.query("PRAGMA foreign_keys = OFF")
        try db.query("BEGIN")
        try db.query("CREATE TABLE before_it(x)")
        let inside = try refused(db) { try rebuild.run(Foreign(db: db)) }
        #expect(inside.description.hasPrefix(refusal.message), "\(inside)")
        try db.query("COMMIT")
        #expect(try tables(in: db).contains("before_it"))
    }

    @Test func `inside a transaction foreign keys must be off`() throws {
        let db = try database("CREATE TABLE t(a)")
        try db.query("BEGIN")
        let error = try refused(db) { try TableRebuild("t", as: "CREATE TABLE t(a, b)").run(db) }
        #expect(
            error.description
                == "Rebuilding the table t: Foreign keys are on, and SQLite cannot turn them off inside"
                + " a transaction. While they are on, dropping a table could also delete the rows that refer to it. Nothing was changed."
                + " Run the change outside of the transaction, or in a migration, which turns foreign keys off first."
        )
        #expect(try db.isInTransaction)
    }

    @Test func `a migration can rebuild, and is recorded or not with it`() throws {
        let db = try database(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);
            """
        )
        let rebuild = TableRebuild("p", as: "CREATE TABLE p(id INTEGER PRIMARY KEY, name)")
        let bad = TableRebuild("p", as: "CREATE TABLE p(id INTEGER PRIMARY KEY)")
        let error = try sqlError {
            try Migrator(
                [
                    Migration(version: 1) { db, _ in try rebuild.run(db) },
                    Migration(version: 2) { db, _ in
                        try db.query("DELETE FROM c")
                        try bad.run(db)
                    },
                ]
            ).migrate(db)
        }
        #expect(error.version == 2)
        #expect(error.code == .refusedSchemaChange)
        #expect(try ledger(of: db) == [1])
        #expect(try db.query("SELECT id, name, p FROM p, c") == [[1, nil, 1]])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try db.query("PRAGMA legacy_alter_table") == [[0]])
    }

    @Test(arguments: [false, true])
    func `legacy_alter_table stays on where it was`(fails: Bool) throws {
        let db = try database("CREATE TABLE t(a)", foreignKeys: false)
        try db.query("PRAGMA legacy_alter_table = ON")
        let rebuild = TableRebuild("t", as: fails ? "CREATE TABLE t(b)" : "CREATE TABLE t(a, b)")
        if fails { _ = try refused(db) { try rebuild.run(db) } } else { try rebuild.run(db) }
        #expect(try db.query("PRAGMA legacy_alter_table") == [[1]])
        #expect(try db.query("PRAGMA foreign_keys") == [[0]])
    }

    @Test(arguments: [false, true])
    func `a full disk in the middle leaves everything, and the settings`(inTransaction: Bool) throws {
        let db = try database("CREATE TABLE t(a)", foreignKeys: !inTransaction)
        for _ in 0..<200 { try db.query("INSERT INTO t VALUES (randomblob(1000))") }
        guard case .integer(let pages) = try db.query("PRAGMA page_count")[0][0] else { return }
        try db.query("PRAGMA max_page_count = \(pages + 2)")
        let before = try everything(in: db)
        if inTransaction { try db.query("BEGIN") }
        let error = try sqlError { try TableRebuild("t", as: "CREATE TABLE t(a, b)").run(db) }
        #expect(error.code == .diskFull)
        #expect(error.message.hasPrefix("Rebuilding the table t: database or disk is full"))
        if inTransaction { try db.query("ROLLBACK") }
        #expect(try everything(in: db) == before)
    }

    @Test(arguments: [false, true])
    func `a task that is cancelled in the middle leaves everything, and the settings`(
        inTransaction: Bool
    ) async throws {
        let task = Task {
            let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES (1)", foreignKeys: !inTransaction)
            let before = try everything(in: db)
            if inTransaction { try db.query("BEGIN") }
            let endless = """
                (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)
                """
            let rebuild = TableRebuild("t", as: "CREATE TABLE t(a)", values: ["a": endless])
            withUnsafeCurrentTask { $0?.cancel() }
            let error = try sqlError { try rebuild.run(db) }
            return (error.code, before, db)
        }
        let (code, before, db) = try await task.value
        #expect(code == .cancelled)
        if inTransaction { try db.query("ROLLBACK") }
        #expect(try everything(in: db) == before)
    }
}

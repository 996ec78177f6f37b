import AppMigrationsSQLite
import Foundation
import Testing

/// The migrator on a connection that is awaited.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct AwaitedMigratorTests {
    let folder = TemporaryDirectory.current.path

    @Test func `migrations run once, in the order of their versions, whatever they are made of`() async throws
    {
        try write("INSERT INTO log VALUES (2);\nINSERT INTO log VALUES (20)", to: folder + "/2_file.sql")
        let code = AwaitedMigration(version: 3) { db, _ in try await db.query("INSERT INTO log VALUES (3)") }
        let migrator = try AwaitedMigrator(
            [AwaitedMigration(version: 10, sql: "INSERT INTO log VALUES (10)"), code]
                + SQLMigration.files(in: folder) + SQLMigration.numbered(["CREATE TABLE log(x)"])
        )
        let db = AwaitedConnection(try memory())
        #expect(try await migrator.migrate(db).applied == [1, 2, 3, 10])
        #expect(try await migrator.migrate(db).applied == [])
        #expect(try db.db.query("SELECT x FROM log") == [[2], [20], [3], [10]])
        #expect(try await migrator.status(db).latestAppliedVersion == 10)
    }

    @Test func `a closure runs on the actor of the caller`() async throws { try await onMainActor() }

    @MainActor private func onMainActor() async throws {
        let migration = AwaitedMigration(version: 1) { db, _ in
            MainActor.assertIsolated()
            try await db.query("CREATE TABLE a(x)")
            MainActor.assertIsolated()
        }
        let db = AwaitedConnection(try memory()) { _ in MainActor.assertIsolated() }
        #expect(try await AwaitedMigrator([migration]).migrate(db).applied == [1])
    }

    @Test func `a script is split, and its triggers are not`() async throws {
        let script = """
            -- One; two
            CREATE TABLE a(x TEXT DEFAULT ';'); /* three; */ CREATE TABLE log("a;b");
            CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO log VALUES (new.x); SELECT 1; END;
            INSERT INTO a VALUES ('it''s; so');;
            INSERT INTO a(x) VALUES (CASE WHEN 1 THEN 'b' END) -- the end
            """
        var statements = [String]()
        let db = AwaitedConnection(try memory()) { statements.append($0) }
        try await AwaitedMigrator([AwaitedMigration(version: 1, sql: script)]).migrate(db)
        #expect(try db.db.query("SELECT \"a;b\" FROM log") == [["it's; so"], ["b"]])
        #expect(statements.count { $0.hasPrefix("INSERT INTO a") } == 2)
        #expect(statements.count { $0.hasPrefix("CREATE T") && !$0.contains("schema_migrations") } == 3)
    }

    @Test func `a statement that fails is named with its place, and nothing of its script is left`()
        async throws
    {
        try write("CREATE TABLE b(x);\n  SELECT nothing;\nCREATE TABLE c(x)", to: folder + "/2_b.sql")
        let first = AwaitedMigration(version: 1, sql: "CREATE TABLE a(x)")
        let migrator = try AwaitedMigrator([first] + SQLMigration.files(in: folder))
        let db = AwaitedConnection(try memory())
        let error = try #require(
            await sqlError { () async throws(SQLError) in try await migrator.migrate(db) }
        )
        #expect(error.code == .statementFailed)
        #expect(error.applied == [1])
        #expect((error.path, error.line, error.column) == (folder + "/2_b.sql", 2, 3))
        #expect(error.statement == "SELECT nothing;")
        #expect(try tables(in: db.db) == ["a"])
        #expect(try !db.db.isInTransaction)
    }

    @Test(
        arguments: [
            ("ATTACH 'a' AS b", "A script in a transaction may not ATTACH: a rollback would not undo it."),
            (
                "DETACH b",
                "A script in a transaction may not DETACH: SQLite doesn't run it there if the transaction has used the database."
            ),
            ("SELECT @name", "A script can't have parameters. Write the value instead of @"),
            ("SELECT $name", "A script can't have parameters. Write the value instead of $"),
        ]
    )
    func `a statement that a script may not hold is refused before anything runs`(
        statement: String,
        words: String
    ) async throws {
        let migrations = [
            AwaitedMigration(version: 1, sql: "CREATE TABLE a(x)"),
            AwaitedMigration(version: 2, sql: "CREATE TABLE \"b?:@$\"(x);\n\(statement);"),
        ]
        let db = AwaitedConnection(try memory())
        let error = try #require(
            await sqlError { () async throws(SQLError) in try await AwaitedMigrator(migrations).migrate(db) }
        )
        #expect(error.code == .refusedStatement)
        #expect(error.message.hasPrefix(words))
        #expect((error.version, error.line) == (2, 2))
        #expect(try tables(in: db.db) == [])
    }

    @Test(arguments: ScriptCase.all)
    func `a script comes to what it comes to on a connection that blocks`(row: ScriptCase) async throws {
        let db = try memory()
        let migrator = try AwaitedMigrator([AwaitedMigration(version: 1, sql: row.script)])
        let error = await sqlError { () async throws(SQLError) in
            try await migrator.migrate(AwaitedConnection(db))
        }
        switch row.outcome {
        case .made(let expected):
            #expect(error == nil, "\(error?.description ?? "")")
            #expect(try tables(in: db) == expected)
        case .ended(let code, let line, let column):
            #expect((error?.code, error?.line, error?.version) == (code, line, 1))
            // SQLite tells no offset in a statement that is refused or fails.
            #expect(code != .invalidScript || error?.column == column)
            #expect(try tables(in: db) == [] && !db.isInTransaction)
        }
    }

    @Test func `in the caller's transaction a table whose rows others refer to isn't dropped`() async throws {
        let db = AwaitedConnection(try memory(foreignKeys: true))
        try db.db.execute(
            script: """
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(p REFERENCES parent(id) ON DELETE CASCADE);
                """
        )
        try db.db.query("BEGIN")
        let drop = AwaitedMigration(version: 1, sql: "SELECT 1;\nDROP TABLE IF EXISTS main.parent")
        let error = try #require(
            await sqlError { () async throws(SQLError) in
                try await AwaitedMigrator([drop]).migrate(db, insideTransaction: true)
            }
        )
        #expect(error.code == .refusedStatement)
        #expect(error.line == 2)
        try db.db.query("ROLLBACK")
        #expect(try await AwaitedMigrator([drop]).migrate(db).applied == [1])
    }

    @Test func `a baseline is recorded, and nothing runs`() async throws {
        let migrator = try AwaitedMigrator(SQLMigration.numbered(["SELECT nothing", "CREATE TABLE b(x)"]))
        let db = AwaitedConnection(try memory())
        #expect(try await migrator.markApplied(upTo: 1, in: db) == [1])
        #expect(try await migrator.markApplied(upTo: 2, in: db) == [])
        #expect(try await migrator.migrate(db).applied == [2])
    }
}

/// The thread of its own on which the rules of a connection run that is awaited.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct AwaitedRulesTests {
    @TaskLocal static var place = "nowhere"

    @Test func `a closure finds the local values of its task`() async throws {
        let migration = AwaitedMigration(version: 1) { _, _ in #expect(Self.place == "here") }
        let db = AwaitedConnection(try memory())
        let migrator = try AwaitedMigrator([migration])
        let report = try await Self.$place.withValue("here") { try await migrator.migrate(db) }
        #expect(report.applied == [1])
    }

    #if os(Linux)
    @Test func `a thousand calls at once end, and leave no thread`() async {
        await #expect(processExitsWith: .success) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1_000 {
                    group.addTask {
                        let migrator = try AwaitedMigrator(SQLMigration.numbered(["CREATE TABLE a(x)"]))
                        try #require(try await migrator.migrate(AwaitedConnection(memory())).applied == [1])
                    }
                }
                try await group.waitForAll()
            }
            // A thread ends a moment after its call; what stays are those of the process itself.
            while try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count > 16 {
                await Task.yield()
            }
        }
    }
    #endif
}

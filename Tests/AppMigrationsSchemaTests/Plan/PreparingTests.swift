import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// Two schemas that need something of the app, and what SQLite says where it isn't registered.
struct RegisteredPair: Sendable, CustomTestStringConvertible {
    let from: String
    let to: String
    var hints = SchemaPlan.Hints()
    /// SQLite's words; `nil` if it finds out only when the statement is used.
    let complaint: String?
    let query: String
    let rows: [[SQLValue]]

    var testDescription: String { to }

    init(
        _ from: String,
        _ to: String,
        hints: SchemaPlan.Hints = .init(),
        complaint: String? = nil,
        query: String,
        rows: [[SQLValue]]
    ) {
        self.from = from
        self.to = to
        self.hints = hints
        self.complaint = complaint
        self.query = query
        self.rows = rows
    }

    static let all = [
        RegisteredPair(
            "CREATE TABLE t(a TEXT COLLATE unicase); INSERT INTO t VALUES ('b'), ('A'); CREATE UNIQUE INDEX i ON t(a)",
            "CREATE TABLE t(a TEXT COLLATE unicase, b); CREATE UNIQUE INDEX i ON t(a)",
            complaint: "no such collation sequence: unicase",
            query: "SELECT a, b FROM t ORDER BY a",
            rows: [["A", nil], ["b", nil]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a TEXT COLLATE unicase PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES ('b', 1), ('A', 2)",
            "CREATE TABLE t(a TEXT COLLATE unicase PRIMARY KEY, b UNIQUE) WITHOUT ROWID",
            complaint: "no such collation sequence: unicase",
            query: "SELECT a FROM t",
            rows: [["A"], ["b"]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('b'), ('A')",
            "CREATE TABLE t(a TEXT); CREATE INDEX i ON t(a COLLATE unicase)",
            complaint: "no such collation sequence: unicase",
            query: "SELECT a FROM t INDEXED BY i ORDER BY a COLLATE unicase",
            rows: [["A"], ["b"]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a); INSERT INTO t VALUES (3)",
            "CREATE TABLE t(a, b AS (app_same(a)))",
            complaint: "no such function: app_same",
            query: "SELECT a, b FROM t",
            rows: [[3, 3]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a); INSERT INTO t VALUES (3)",
            "CREATE TABLE t(a CHECK (app_same(a) > 0))",
            complaint: "no such function: app_same",
            query: "SELECT a FROM t",
            rows: [[3]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a); INSERT INTO t VALUES (3)",
            "CREATE TABLE t(a); CREATE INDEX i ON t(app_same(a))",
            complaint: "no such function: app_same",
            query: "SELECT a FROM t INDEXED BY i WHERE app_same(a) = 3",
            rows: [[3]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a); INSERT INTO t VALUES (3); CREATE INDEX i ON t(a) WHERE app_same(a) > 2",
            "CREATE TABLE t(a, b UNIQUE); CREATE INDEX i ON t(a) WHERE app_same(a) > 2",
            complaint: "no such function: app_same",
            query: "SELECT a, b FROM t",
            rows: [[3, nil]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a); INSERT INTO t VALUES (3); CREATE VIEW v AS SELECT app_same(a) AS x FROM t",
            "CREATE TABLE u(a); CREATE VIEW v AS SELECT app_same(a) AS x FROM u",
            hints: .init(renamedTables: ["t": "u"]),
            query: "SELECT x FROM v",
            rows: [[3]]
        ),
        RegisteredPair(
            """
            CREATE TABLE t(a); INSERT INTO t VALUES (3); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT app_same(a) FROM t; END
            """,
            "CREATE TABLE t(b); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT app_same(b) FROM t; END",
            hints: .init(renamedColumns: ["t": ["a": "b"]]),
            query: "SELECT b FROM t",
            rows: [[3]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a); INSERT INTO t VALUES (3)",
            "CREATE TABLE t(a, b NOT NULL)",
            hints: .init(values: ["t": ["b": "app_same(a) + 1"]]),
            query: "SELECT a, b FROM t",
            rows: [[3, 4]]
        ),
        RegisteredPair(
            "CREATE VIRTUAL TABLE f USING fts4(a, tokenize=app_tok); INSERT INTO f VALUES ('one two'); CREATE TABLE t(a)",
            "CREATE VIRTUAL TABLE f USING fts4(a, tokenize=app_tok); CREATE TABLE t(a, b)",
            complaint: "unknown tokenizer: app_tok",
            query: "SELECT a FROM f WHERE f MATCH 'two'",
            rows: [["one two"]]
        ),
        RegisteredPair(
            "CREATE TABLE t(a)",
            "CREATE TABLE t(a); CREATE VIRTUAL TABLE f USING fts5(a, tokenize='app_tok')",
            complaint: "no such tokenizer: app_tok",
            query: "SELECT count(*) FROM f",
            rows: [[0]]
        ),
        RegisteredPair(
            "CREATE TABLE t(k TEXT COLLATE unicase UNIQUE); CREATE TABLE c(k REFERENCES t(k) ON DELETE CASCADE);"
                + " CREATE VIEW broken AS SELECT nope FROM t; INSERT INTO t VALUES ('a'); INSERT INTO c VALUES ('A')",
            "CREATE TABLE u(k TEXT COLLATE unicase UNIQUE); CREATE TABLE c(k REFERENCES u(k) ON DELETE CASCADE);"
                + " CREATE VIEW broken AS SELECT nope FROM t",
            hints: .init(renamedTables: ["t": "u"]),
            complaint: "no such collation sequence: unicase",
            query: "SELECT u.k, c.k FROM u, c",
            rows: [["a", "A"]]
        ),
    ]
}

@Suite(.temporaryDirectory) struct PreparingTests {
    let folder = TemporaryDirectory.current.path

    @Test(arguments: RegisteredPair.all)
    func `a schema that needs something of the app is planned once that is registered`(_ pair: RegisteredPair)
        throws
    {
        let db = try AppRegistrations.database(pair.from)
        func plan() throws -> SchemaPlan {
            try SchemaPlan(
                from: db,
                to: pair.to,
                hints: pair.hints,
                preparing: AppRegistrations.register
            )
        }
        let first = try plan()
        #expect(first.questions == [])
        try first.apply(db)
        #expect(try db.query(pair.query) == pair.rows)
        #expect(try plan().steps.map(\.description) == [])
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
    }

    @Test(arguments: RegisteredPair.all.filter { $0.complaint != nil })
    func `an error of something that isn't registered names the way out`(_ pair: RegisteredPair) throws {
        let db = try AppRegistrations.database(pair.from)
        let error = try refused(db) { _ = try SchemaPlan(from: db, to: pair.to, hints: pair.hints) }
        #expect(error.code == .statementFailed)
        #expect(error.message.contains(try #require(pair.complaint)), "\(error)")
        #expect(
            error.description.hasSuffix(
                "Nothing was changed. Register it on each private connection in the preparing closure."
            ),
            "\(error)"
        )
    }

    @Test func `a rename that fails for want of a registration names the way out`() throws {
        // The target has no need of the tokenizer, the database has.
        let db = try AppRegistrations.database(
            "CREATE TABLE t(a); CREATE VIRTUAL TABLE f USING fts5(a, tokenize='app_tok')"
        )
        let hints = SchemaPlan.Hints(renamedTables: ["t": "u"], droppedTables: ["f"])
        let error = try refused(db) { _ = try SchemaPlan(from: db, to: "CREATE TABLE u(a)", hints: hints) }
        #expect(
            error.description
                == "The table t cannot be renamed: no such tokenizer: app_tok. Nothing was changed."
                + " Register it on each private connection in the preparing closure, or rename the table in a migration."
        )
        let plan = try SchemaPlan(
            from: db,
            to: "CREATE TABLE u(a)",
            hints: hints,
            preparing: AppRegistrations.register
        )
        #expect(plan.steps.map(\.description) == ["rename the table t to u", "drop the table f"])
        try plan.apply(db)
    }

    @Test func `an error of the closure is the plan's, and nothing is changed`() throws {
        struct NoFunction: Error, CustomStringConvertible { let description = "there is no such function" }
        let db = try database("CREATE TABLE t(a)")
        let error = try refused(db) {
            _ = try SchemaPlan(from: db, to: "CREATE TABLE t(a, b)") { _ in throw NoFunction() }
        }
        #expect(error.code == .refusedSchemaChange)
        #expect(error.underlyingError is NoFunction)
        #expect(
            error.description
                == "The preparing closure failed: there is no such function. Nothing was changed."
        )
        let cancelled = try sqlError {
            try SchemaPlan(from: db, to: "CREATE TABLE t(a, b)") { _ in throw CancellationError() }
        }
        #expect(cancelled.code == .cancelled)
    }

    @Test func `a status of a store prepares its connections, and so does its plan`() throws {
        let store = SQLiteStore(path: folder + "/db")
        let db = try SQLiteConnection(path: store.path)
        try AppRegistrations.register(on: db.handle)
        try db.execute(
            script: """
                CREATE TABLE t(a TEXT COLLATE unicase); INSERT INTO t VALUES ('b'), ('A'); CREATE INDEX i ON t(a);
                CREATE VIRTUAL TABLE f USING fts5(a, tokenize='app_tok'); INSERT INTO f VALUES ('x')
                """
        )
        let target = """
            CREATE TABLE t(a TEXT COLLATE unicase, b UNIQUE); CREATE INDEX i ON t(a);
            CREATE VIRTUAL TABLE f USING fts5(a, tokenize='app_tok')
            """
        let error = try sqlError { try store.status(target: target) }
        #expect(error.description.contains("in the preparing closure"), "\(error)")
        let status = try store.status(target: target, check: .full, preparing: AppRegistrations.register)
        guard case .migratable(let plan) = status else {
            Issue.record("\(status)")
            return
        }
        try plan.apply(db)
        let after = try store.status(target: target, check: .full, preparing: AppRegistrations.register)
        #expect("\(after)" == "same: the store has the target's schema")
    }

    @Test func `migrations are compared with a target on prepared connections`() throws {
        let schema = """
            CREATE TABLE t(a TEXT COLLATE unicase); CREATE INDEX i ON t(app_same(a));
            CREATE VIRTUAL TABLE f USING fts5(a, content='t', tokenize='app_tok')
            """
        let migrator = try SQLiteMigrator(SQLiteMigration.numbered([schema]))
        #expect(try migrator.schemaDifferences(from: schema, preparing: AppRegistrations.register) == [])
        let db = try AppRegistrations.database("")
        let more = try migrator.schemaDifferences(
            from: "\(schema); CREATE TABLE u(a COLLATE unicase)",
            in: db,
            preparing: AppRegistrations.register
        )
        #expect(more == ["The migrations make no table u."])
        #expect(try sqlError { try migrator.schemaDifferences(from: schema) }.description.contains("unicase"))
    }

    @Test func `a prepared connection tells a table of the app from a shadow table`() throws {
        let index = "CREATE VIRTUAL TABLE f USING fts5(a, content='f_content', tokenize='app_tok');"
        let db = try AppRegistrations.database("CREATE TABLE f_content(a); \(index)")
        let hints = SchemaPlan.Hints(droppedTables: ["f"])
        let target = "CREATE TABLE f_content(a, b UNIQUE)"
        let blind = try SchemaPlan(from: db, to: "CREATE TABLE z(a)", hints: hints)
        #expect(blind.assumedShadowTables.contains("f_content"))
        #expect("\(blind)".contains("no such tokenizer: app_tok. Register it on each private connection"))
        let plan = try SchemaPlan(
            from: db,
            to: target + ";" + index,
            preparing: AppRegistrations.register
        )
        #expect(plan.assumedShadowTables == [])
        #expect(plan.steps.map(\.description) == ["rebuild the table f_content"])
        try plan.apply(db)
        let rebuild = TableRebuild("f_content", as: "CREATE TABLE f_content(a, b)")
        let error = try refused(db) { try rebuild.run(db) }
        #expect(
            error.description.hasSuffix("Register it on each private connection in the preparing closure.")
        )
        try rebuild.run(db, preparing: AppRegistrations.register)
    }

    @Test func `an expression with a function that isn't registered names the way out`() throws {
        let db = try AppRegistrations.database("CREATE TABLE t(a); INSERT INTO t VALUES (3)")
        let values = ["b": "app_same(a)"]
        let rebuild = TableRebuild("t", as: "CREATE TABLE t(a, b)", values: values)
        let way =
            "or register what the expression needs. Register it on each private connection in the preparing closure."
        let refusal = try refused(db) { try rebuild.run(db) }
        #expect(
            refusal.description.hasSuffix(
                "no such function: app_same. Nothing was changed. Correct the values argument, \(way)"
            )
        )
        let hints = SchemaPlan.Hints(values: ["t": values])
        let contradiction = try sqlError {
            try SchemaPlan(from: db, to: "CREATE TABLE t(a, b)", hints: hints)
        }
        #expect(
            contradiction.description.hasSuffix(
                "no such function: app_same. Nothing was changed. Correct the hints, \(way)"
            )
        )
        try rebuild.run(db, preparing: AppRegistrations.register)
        #expect(try db.query("SELECT a, b FROM t") == [[3, 3]])
    }

    @Test func `a rebuild asks a prepared connection what a full-text index is filled from`() throws {
        let db = try AppRegistrations.database(
            """
            CREATE TABLE t(a, b); INSERT INTO t VALUES ('x', 'y');
            CREATE VIRTUAL TABLE f USING fts5(a, content='t', tokenize='app_tok'); INSERT INTO f(f) VALUES ('rebuild')
            """
        )
        let rebuild = TableRebuild("t", as: "CREATE TABLE t(b)", dropping: ["a"])
        let error = try refused(db) { try rebuild.run(db, preparing: AppRegistrations.register) }
        #expect(error.description.contains("The virtual table f is filled from the column a"), "\(error)")
    }
}

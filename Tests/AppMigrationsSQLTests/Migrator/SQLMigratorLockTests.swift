import Testing

@testable import AppMigrationsSQL
@testable import AppMigrationsSQLite

/// Locks that could not be had, on the connections of other libraries.
@Suite(.watchdog) struct SQLMigratorLockTests {
    private typealias Other = SQLMigrator<OtherConnection>

    @Test(arguments: [
        "database is locked", "database table is locked", "canceling statement due to lock timeout",
    ])
    func `a lock that could not be had is busy, and blames no file`(words: String) throws {
        try withTemporaryFolder { folder in
            try write("CREATE TABLE a(x)", to: folder + "/1_a.sql")
            let migrator = try Other(SQLMigration.files(in: folder))
            for statement in ["BEGIN IMMEDIATE", "COMMIT", "CREATE TABLE a(x)", "CREATE TABLE main."] {
                let db = OtherConnection(try memory()) { sql in
                    if sql.hasPrefix(statement) { throw OtherConnection.Failure(description: words) }
                }
                let error = try sqlError { try migrator.migrate(db) }
                #expect(error.code == .busy, "\(statement)")
                #expect(
                    error.description == "Migration 1 (a): \(words). It changed nothing."
                        + " Try again, or wait longer (lockTimeout:, busyTimeout:)."
                )
                #expect(error.path == nil)
                #expect(error.underlyingError is OtherConnection.Failure)
                #expect(try tables(in: db.db).isEmpty)
            }
        }
    }

    @Test func `a connection behind a type of the app's keeps its wait for locks`() throws {
        let db = try SQLiteConnection(path: ":memory:", busyTimeout: .seconds(7))
        try Other([SQLMigration(version: 1, sql: "CREATE TABLE a(b)")]).migrate(OtherConnection(db))
        #expect(try db.query("PRAGMA busy_timeout") == [[7_000]])
        #expect(db.exchangeBusyTimeout(.zero) == .seconds(7))
        #expect(try db.query("PRAGMA busy_timeout = 5") == [[5]])
    }

    /// Then SQLite has no busy handler, and a call that meets a lock would end at once.
    @Test func `a wait of 0 that the app set in a script doesn't switch the migrator's wait off`() throws {
        try withTemporaryFolder { folder in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.execute(script: "PRAGMA main.Busy_Timeout = 0")
            let other = try SQLiteConnection(path: folder + "/db")
            try other.query("BEGIN EXCLUSIVE")
            let error = try sqlError {
                try db.withBusyTimeout(.milliseconds(5)) { () throws(SQLError) in
                    try db.query("SELECT * FROM sqlite_master")
                }
            }
            #expect(error.code == .busy)
            // The handler was called.
            #expect(db.state.withLock { $0.waitingSince } > .zero)
        }
    }

    @Test func `a wait that a migration sets doesn't replace the migrator's wait for the commit`() throws {
        let db = try SQLiteConnection(path: ":memory:")
        try db.withBusyTimeout(.seconds(7)) { () throws(SQLError) in
            try db.query("pragma busy_timeout=100")
            try db.withBusyTimeout(.zero) { () throws(SQLError) in }
            #expect(db.exchangeBusyTimeout(.seconds(7)) == .seconds(7))
        }
    }

    @Test(arguments: ["PRAGMA busy_timeout=2000000000", "pragma busy_timeout = 2000000000;"])
    func `a wait that the app set in a script doesn't replace the migrator's wait`(pragma: String) throws {
        try withTemporaryFolder { folder in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.execute(script: pragma)
            let other = try SQLiteConnection(path: folder + "/db")
            try other.query("BEGIN IMMEDIATE")
            let migrations = [Migration(version: 1, sql: "CREATE TABLE a(b)")]
            let migrator = try Migrator(migrations, lockTimeout: .zero)
            #expect(try sqlError { try migrator.migrate(db) }.code == .busy)
            #expect(try db.query("PRAGMA busy_timeout") == [[2_000_000_000]])
            #expect(db.exchangeBusyTimeout(.zero) == .seconds(2_000_000))
        }
    }

    @Test(arguments: [
        "/**/\n-- a line\n PRAGMA busy_timeout = 2000000000", "PRAGMA /**/ Busy_Timeout = 2000000000",
        "; /**/ explain pragma main.\"busy_timeout\"=2000000000",
    ])
    func `a comment doesn't hide the wait that the app sets`(sql: String) throws {
        let db = try SQLiteConnection(path: ":memory:")
        try db.query(sql.replacing("/**/", with: "/* \(String(repeating: "a", count: 300)) */"))
        #expect(db.exchangeBusyTimeout(.zero) < .seconds(2_000_000))
        try db.withBusyTimeout(.zero) { () throws(SQLError) in }
        #expect(try db.query("PRAGMA busy_timeout") == [[2_000_000_000]])
        #expect(db.exchangeBusyTimeout(.zero) == .seconds(2_000_000))
    }

    @Test func `a statement that only mentions the wait doesn't set it`() throws {
        let db = try SQLiteConnection(path: ":memory:")
        try db.query("SELECT 'PRAGMA busy_timeout'")
        #expect(db.state.withLock { !$0.mayLackBusyHandler })
    }

    @Test func `reading a ledger that is locked is busy, too`() throws {
        let db = OtherConnection(try memory()) { sql in
            if sql.hasPrefix("SELECT") { throw OtherConnection.Failure(description: "database is locked") }
        }
        let migrator = try Other([])
        #expect(try sqlError { try migrator.migrate(db) }.code == .busy)
        #expect(try sqlError { try migrator.status(db) }.code == .busy)
    }

    @Test func `a lock that was waited for in vain is busy in every language`() throws {
        let wait = Duration.milliseconds(1)
        let db = OtherConnection(try memory()) { sql in
            guard sql == "BEGIN IMMEDIATE" else { return }
            // The real clock: the migrator measures how long the statement took.
            let began = ContinuousClock.now
            while began.duration(to: .now) < wait {}
            throw OtherConnection.Failure(description: "gesperrt")
        }
        let error = try sqlError {
            try Other([SQLMigration(version: 1, sql: "")], lockTimeout: wait).migrate(db)
        }
        #expect(error.code == .busy)
        #expect(error.message == "gesperrt")
    }

    @Test func `another failure of the statement is none of the lock`() throws {
        let db = OtherConnection(try memory()) { sql in
            if sql == "BEGIN IMMEDIATE" { throw OtherConnection.Failure(description: "no connection") }
        }
        let error = try sqlError { try Other([SQLMigration(version: 1, sql: "")]).migrate(db) }
        #expect(error.code == .statementFailed)
        #expect(error.description == "Migration 1: no connection.")
    }

    @Test func `a connection that takes no statement is not taken for one in a transaction`() throws {
        var isCancelled = false
        let db = OtherConnection(try memory()) { sql in
            if sql == "BEGIN IMMEDIATE" { isCancelled = true }
            if isCancelled { throw CancellationError() }
        }
        let error = try sqlError { try Other([SQLMigration(version: 1, sql: "")]).migrate(db) }
        #expect(error.code == .cancelled)
        #expect(!error.message.contains("transaction"))
    }

    @Test func `what a closure says of locks is its own error`() throws {
        let migrator = try Other([
            SQLMigration(version: 1) { _, _ in
                throw OtherConnection.Failure(description: "database is locked")
            }
        ])
        #expect(try sqlError { try migrator.migrate(OtherConnection(memory())) }.code == .migrationFailed)
    }

    @Test func `progress tells of what this call ran, and of nothing else`() throws {
        let db = try memory()
        let migrations = (1...4).map {
            SQLMigration<SQLiteConnection>(version: $0, sql: "CREATE TABLE t\($0)(x)")
        }
        let other = try Migrator(migrations)
        var begun = 0
        let connection = OtherConnection(db) { sql in
            guard sql == "BEGIN IMMEDIATE" else { return }
            begun += 1
            if begun == 2 { try other.migrate(db, to: 3) }
        }
        var told = [String]()
        let report = try Other(
            (1...4).map { SQLMigration(version: $0, sql: "CREATE TABLE t\($0)(x)") }
        ).migrate(connection) {
            told.append("\($0.completed)/\($0.total) \($0.version)")
            return .continue
        }
        #expect(told == ["1/4 1", "2/2 4"])
        #expect(report.applied == [1, 4])
    }

    @Test func `a transaction that is rolled back takes its counts with it`() throws {
        let db = try memory()
        let texts = ["CREATE TABLE a(x)", "CREATE TABLE b(x)", "CREATE TABLE a(x)"]
        let other = try Migrator(SQLMigration<SQLiteConnection>.numbered(Array(texts.prefix(1))))
        let connection = OtherConnection(db) { sql in
            if sql == "BEGIN IMMEDIATE" { try other.migrate(db) }
        }
        let migrator = try Other(SQLMigration.numbered(texts), transactions: .all)
        let conversation = SQLConversation(connection)
        let run = SQLMigrationRun(
            of: migrator.steps,
            in: OtherConnection.dialect.makeSession(conversation),
            to: nil,
            insideTransaction: false
        )
        var told = [String]()
        let error = try sqlError {
            try conversation.run {
                if case .progress(let done) = run.callback { told.append("\(done.completed)/\(done.total)") }
            } _: { () throws(SQLError) in
                try run.run()
            }
        }
        #expect(told == ["1/2"])
        #expect(error.applied == [])
        #expect(run.report.applied == [] && run.appliedByOthers == 0)
    }
}

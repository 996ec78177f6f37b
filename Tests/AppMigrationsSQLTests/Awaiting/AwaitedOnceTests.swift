import AppMigrations
import AppMigrationsSQLite
import Testing

/// A closure on a connection that is awaited, exactly once in the life of a database.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct AwaitedOnceTests {
    let library: Library

    init() throws { library = try Library() }

    private func add(_ version: String, before: @escaping (String) throws -> Void = { _ in }) async throws
        -> Bool
    {
        try await library.manager().manager.whenMigrating(
            toVersion: version,
            in: AwaitedConnection(library.db, before: before)
        ) { db, _ in try await db.query("INSERT INTO log VALUES (?)", [.text(version)]) }
    }

    @Test func `a closure runs once, whatever the state file says`() async throws {
        #expect(try await add("1.1"))
        #expect(try await !add("1.1"))
        try library.manager().manager.reset(to: "1.0")
        #expect(try await !add("1.1"))
        #expect(try library.log == [["1.1"]])
        #expect(try library.rows == [["Library", "1.1"]])
        try await library.manager().manager.reset(to: "1.0", in: AwaitedConnection(library.db))
        #expect(try library.rows == [])
        #expect(try await add("1.1"))
    }

    @Test func `versions that a hotfix brought run once, below the last-run version`() async throws {
        #expect(try library.manager(current: "1.5").manager.whenMigrating(toVersion: "1.5") {})
        for isFirst in [true, false] {
            let manager = try library.manager(current: "1.5").manager
            let db = { AwaitedConnection(library.db) }
            let first = try await manager.whenMigrating(toVersion: "1.3", addedIn: "1.5", in: db()) {
                _,
                _ in
            }
            let second = try await manager.whenMigrating(toVersion: "1.4", addedIn: "1.5", in: db()) {
                _,
                _,
                _ in
                .done
            }
            #expect(first == isFirst && second == isFirst)
            #expect(manager.lastRunVersion == AppVersion("1.5"))
        }
        #expect(try library.rows == [["Library", "1.3"], ["Library", "1.4"]])
    }

    @Test func `the closure and its row are one transaction, which a failure rolls back`() async throws {
        let error = await #expect(throws: MigrationError.self) {
            try await library.manager().manager.whenMigrating(
                toVersion: "1.1",
                in: AwaitedConnection(library.db)
            ) { db, context in
                #expect(context.attempt == 1)
                try await db.query("INSERT INTO log VALUES ('lost')")
                throw Failure()
            }
        }
        #expect(error?.underlyingError is Failure)
        #expect(try library.log == [])
        #expect(try library.rows == [])
        #expect(try await add("1.1"))
    }

    @Test(arguments: [false, true])
    func `what the call had connected is closed, also after an error`(fails: Bool) async throws {
        for (version, isOfBatches) in [("1.1", false), ("1.2", true)] {
            let db = AwaitedConnection(library.db)
            let manager = try library.manager().manager
            do {
                if isOfBatches {
                    try await manager.whenMigrating(toVersion: version, in: db) { _, _, _ in
                        if fails { throw Failure() }
                        return .done
                    }
                } else {
                    try await manager.whenMigrating(toVersion: version, in: db) { _, _ in
                        if fails { throw Failure() }
                    }
                }
                #expect(!fails)
            } catch { #expect(fails) }
            #expect(db.isClosed)
        }
    }

    @Test func `a connection that can't be made says why in the words of its server`() async throws {
        func connect() throws -> AwaitedConnection { throw AwaitedConnection.Hidden() }
        for isOfBatches in [false, true] {
            let manager = try library.manager().manager
            let error = await #expect(throws: MigrationError.self) {
                if isOfBatches {
                    try await manager.whenMigrating(toVersion: "1.1", in: try connect()) { _, _, _ in .done }
                } else {
                    try await manager.whenMigrating(toVersion: "1.1", in: try connect()) { _, _ in }
                }
            }
            #expect(error?.description.contains("the server says why") == true)
        }
    }

    @Test func `a commit that fails leaves nothing recorded`() async throws {
        await #expect(throws: MigrationError.self) {
            try await add("1.1") { if $0 == "COMMIT" { throw Failure() } }
        }
        #expect(try library.log == [])
        #expect(try library.manager().manager.lastRunVersion == AppVersion("1.0"))
    }

    @Test func `foreign keys are off in the closure and checked after it`() async throws {
        try library.db.execute(
            script: """
                PRAGMA foreign_keys = ON;
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(p REFERENCES parent(id));
                """
        )
        let error = await #expect(throws: MigrationError.self) {
            try await library.manager().manager.whenMigrating(
                toVersion: "1.1",
                in: AwaitedConnection(library.db)
            ) { db, _ in try await db.query("INSERT INTO child VALUES (7)") }
        }
        #expect((error?.underlyingError as? SQLError)?.code == .foreignKeyViolation)
        #expect(try library.db.query("PRAGMA foreign_keys") == [[1]])
    }
}

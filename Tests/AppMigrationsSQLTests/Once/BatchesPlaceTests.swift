import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite

/// Batches after deaths, with other states, and in databases that the state doesn't fit.
@Suite(.temporaryDirectory) struct BatchesPlaceTests {
    let library: Library

    init() throws { library = try Library() }

    @Test(arguments: [
        ("INSERT INTO log", 1), ("INSERT INTO log", 2), ("INSERT INTO log", 4),
        ("INSERT INTO main.\"app_migrations\"", 1), ("UPDATE main.\"app_migrations\"", 1),
        ("UPDATE main.\"app_migrations\"", 3), ("COMMIT", 1), ("COMMIT", 2), ("COMMIT", 4), ("COMMIT", 5),
        ("UPDATE main.\"app_migrations\"", 4), ("UPDATE main.\"app_migrations\"", 5),
    ])
    func `a process killed behind a statement has run each batch once in the end`(
        statement: String,
        count: Int
    ) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = library.folder as String, statement = statement as String, count = count as Int] in
            let library = try Library(opening: folder)
            let db = DyingConnection(library.db, statement: statement, after: count)
            try library.count(to: 4, in: db)
        }
        let before = try library.log
        // Where the last batch was committed, only the record was missing.
        #expect(try library.count(to: 4) == (before.count < 4))
        #expect(try library.log == [["1"], ["2"], ["3"], ["4"]])
        #expect(try library.cursors == [[nil]])
        #expect(try library.manager().manager.status.history.map(\.attemptCount) == [2])
    }

    @Test func `two states on one database share the batches, each of which runs once`() throws {
        try withTemporaryFolder { elsewhere in
            let second = try SQLiteConnection(path: library.folder + "/db")
            let other = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                firstRun: .everything,
                stateDirectory: elsewhere
            )
            #expect(library.count(to: 5, failingAt: 3)?.underlyingError is Failure)
            let shared = try library.manager { event in
                // After the third batch the other state takes over.
                guard event.kind == .progressed, event.fraction == 0.5 else { return }
                #expect(throws: Never.self) {
                    try library.count(to: 5, in: second, manager: LibraryManager(manager: other, db: second))
                }
            }
            #expect(try library.count(to: 5, in: library.db, manager: shared))
            #expect(other.lastRunVersion == AppVersion("1.4"))
            #expect(shared.manager.lastRunVersion == AppVersion("1.4"))
            #expect(try library.log == [["1"], ["2"], ["3"], ["4"], ["5"]])
        }
    }

    @Test func `a restored backup goes on at its own cursor`() throws {
        let backup = library.folder + "/backup"
        library.count(to: 6, failingAt: 3)
        try library.db.query("VACUUM INTO ?", [.text(backup)])
        library.count(to: 6, failingAt: 5)
        let restored = try SQLiteConnection(path: backup)
        #expect(try library.count(to: 6, in: restored))
        #expect(try restored.query("SELECT count(*), count(DISTINCT version) FROM log") == [[6, 6]])
    }

    @Test func `a reset in the database begins anew, and one of the state alone goes on`() throws {
        library.count(to: 4, failingAt: 3)
        try library.manager().manager.reset(to: "1.0")
        #expect(try library.cursors == [["2"]])
        try library.manager().manager.reset(to: "1.0", in: library.db)
        #expect(try library.cursors == [])
        try library.count(to: 4)
        #expect(try library.log.count == 6)
    }

    @Test(arguments: [false, true])
    func `a reset of the state alone runs no ended batch again, and an event says so`(isAwaited: Bool)
        async throws
    {
        let log = Log()
        func count() async throws -> Bool {
            let manager = try library.manager { if $0.kind == .finished { log.add($0.note ?? "") } }
            if !isAwaited { return try manager.batches { _, _, _ in .done } }
            let db = AwaitedConnection(library.db)
            return try await manager.manager.whenMigrating(toVersion: "1.4", in: db) {
                _,
                _,
                _ in
                .done
            }
        }
        #expect(try await count())
        try library.manager().manager.reset(to: "1.0")
        #expect(try await !count())
        let note = "no batch ran, because app_migrations says that all batches of 1.4 have ended"
        #expect(log.lines == ["", note])
    }

    @Test func `what was begun in batches is not run as a whole, and the other way round`() throws {
        library.count(to: 4, failingAt: 2)
        let error = #expect(throws: MigrationError.self) { try library.manager().add("1.4") }
        #expect(
            (error?.underlyingError as? SQLError)?.message
                == "Version 1.4 was begun in batches, and is at the cursor \"1\". Finish it with"
                + " whenMigrating(toVersion:in:batches:)"
        )
        try library.manager().manager.reset(to: "1.0", in: library.db)
        #expect(try library.manager().add("1.4"))
        try library.manager().manager.reset(to: "1.0")
        #expect(try !library.count(to: 4))
    }

    @Test func `a table without the cursor gets it, and its rows stand for versions that are done`() throws {
        try library.db.execute(
            script: """
                CREATE TABLE app_migrations(manager TEXT NOT NULL, version TEXT NOT NULL, PRIMARY KEY(manager, version));
                INSERT INTO app_migrations VALUES ('Library', '1.4'), ('Other', '1.4');
                """
        )
        #expect(try !library.count(to: 4))
        try library.manager().manager.reset(to: "1.0", in: library.db)
        #expect(try library.count(to: 4))
        #expect(try library.rows == [["Library", "1.4"], ["Other", "1.4"]])
    }

    @Test(arguments: [
        (
            "CREATE TRIGGER t BEFORE UPDATE ON app_migrations BEGIN SELECT RAISE(IGNORE); END",
            "The table app_migrations did not keep the row of version 1.4, or lost another row"
        ),
        (
            "UPDATE app_migrations SET cursor = x'00'",
            "The table app_migrations has a cursor of version 1.4 that can't be read: x'00'"
        ),
    ])
    func `a cursor that is not kept or can't be read is an error`(statement: String, message: String) throws {
        library.count(to: 4, failingAt: 2)
        try library.db.query(statement)
        let error = #expect(throws: MigrationError.self) { try library.count(to: 4) }
        let cause = error?.underlyingError as? SQLError
        #expect(cause?.code == .ledgerUnreadable)
        #expect(cause?.message == message)
        #expect(try library.log == [["1"]])
    }

    @Test func `batches of a database that another process has reset are not recorded`() throws {
        let second = try SQLiteConnection(path: library.folder + "/db")
        let db = OtherConnection(library.db) { statement in
            // After the last batch.
            guard statement == "PRAGMA synchronous = 3" else { return }
            try second.query("DELETE FROM app_migrations")
        }
        let error = #expect(throws: MigrationError.self) { try library.count(to: 2, in: db) }
        #expect((error?.underlyingError as? SQLError)?.code == .ledgerUnreadable)
        #expect(try library.rows.isEmpty)
        #expect(try library.manager().manager.lastRunVersion == AppVersion("1.0"))
    }

    @Test func `rows that a trigger keeps from being deleted are no obstacle`() throws {
        #expect(try library.manager().add("1.1"))
        try library.db.query(
            "CREATE TRIGGER t BEFORE DELETE ON app_migrations BEGIN SELECT RAISE(ABORT, 'kept'); END"
        )
        #expect(try library.count(to: 2))
        #expect(try library.cursors == [[nil], [nil]])
    }

    @Test(arguments: [
        ("manager TEXT COLLATE NOCASE, version TEXT", "('library', '1.4')", "[[NULL, 'library', '1.4']]"),
        (
            "manager TEXT, version TEXT", "('Library', '1.4'), ('Library', '1.4')",
            "[[NULL, 'Library', '1.4'], [NULL, 'Library', '1.4']]"
        ),
    ])
    func `a row that only seems to be the version's is an error`(
        columns: String,
        values: String,
        found: String
    )
        throws
    {
        try library.db.execute(
            script: """
                CREATE TABLE app_migrations(\(columns), cursor TEXT);
                INSERT INTO app_migrations(manager, version) VALUES \(values);
                """
        )
        for attempt in [{ try library.count(to: 2) }, { try library.manager().add("1.4") }] {
            let error = #expect(throws: MigrationError.self) { try attempt() }
            #expect(
                (error?.underlyingError as? SQLError)?.message
                    == "The table app_migrations has rows that look like version 1.4, and are not: \(found)"
            )
        }
        #expect(try library.log.isEmpty)
    }

    @Test func `a lock that another writer holds is waited for by each batch`() throws {
        let holder = try SQLiteConnection(path: library.folder + "/db")
        let manager = try library.manager { event in
            guard event.kind == .progressed else { return }
            #expect(throws: Never.self) { try holder.query("BEGIN IMMEDIATE") }
        }
        let error = #expect(throws: MigrationError.self) {
            try manager.manager.whenMigrating(
                toVersion: "1.4",
                in: library.db,
                lockTimeout: .inVain
            ) { _, _, _ in .continue(at: 1, progress: 0.5) }
        }
        #expect((error?.underlyingError as? SQLError)?.code == .busy)
        try holder.query("COMMIT")
        #expect(try library.cursors == [["1"]])
    }

    // Without a sync of its own, a log that is full goes into the database without one, and the next commits write over it.
    @Test(
        arguments: [("delete", 0, 0), ("delete", 1, 1), ("wal", 0, 1), ("wal", 1, 1)]
            as [(String, Int64, Int64)]
    )
    func `the last commit is durable and writes, those before it last with it`(
        journal: String,
        setting: Int64,
        batches: Int64
    ) throws {
        try library.db.query("PRAGMA journal_mode = \(journal)")
        try library.db.query("PRAGMA synchronous = \(setting)")
        var synchronous = [[[SQLValue]]]()
        // A reader's `data_version` changes when others have changed the file.
        let reader = try SQLiteConnection(path: library.folder + "/db")
        var written = [[[SQLValue]]]()
        let db = OtherConnection(library.db) { statement in
            guard statement == "COMMIT" else { return }
            synchronous.append(try library.db.query("PRAGMA synchronous"))
            written.append(try reader.query("PRAGMA data_version"))
        }
        try library.count(to: 3, in: db)
        #expect(synchronous == [batches, batches, batches, 3].map { [[.integer($0)]] })
        #expect(try library.db.query("PRAGMA synchronous") == [[.integer(setting)]])
        written.append(try reader.query("PRAGMA data_version"))
        #expect(Set(written).count == 5)
    }
}

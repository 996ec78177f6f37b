import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite

/// Deaths between the two records, and states that don't fit the database.
@Suite(.temporaryDirectory) struct VersionInDatabaseDeathTests {
    let library: Library

    init() throws { library = try Library() }

    @Test(arguments: [
        ("INSERT INTO log", [false, true, true]),
        ("INSERT INTO main.\"app_migrations\"", [false, true, true]),
        ("COMMIT", [true, false, false]),
    ])
    func `a process killed behind a statement has run the closure once in the end`(
        statement: String,
        expected: [Bool]
    ) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = library.folder as String, statement = statement as String] in
            let library = try Library(opening: folder)
            let db = DyingConnection(library.db, statement: statement)
            try library.manager().manager.whenMigrating(toVersion: "1.4", in: db) { db, _ in
                try db.query("INSERT INTO log VALUES ('1.4')")
            }
        }
        #expect(try library.rows.contains(["Library", "1.4"]) == expected[0])
        let manager = try library.manager()
        #expect(manager.manager.lastRunVersion == AppVersion("1.0"))
        #expect(try manager.add("1.4") == expected[1])
        #expect(try library.log == [["1.4"]])
        #expect(manager.manager.lastRunVersion == AppVersion("1.4"))
        #expect(try manager.manager.status.history.map(\.attemptCount) == [2])
    }

    @Test func `a state that was reset or lost does not run it again in a database that has it`() throws {
        #expect(try library.manager().add("1.4"))
        try library.manager().manager.reset(to: "1.0")
        #expect(try !library.manager().add("1.4"))
        _ = try MigrationManager.forgetState(named: "Library", stateDirectory: library.folder)
        #expect(try !library.manager().add("1.4"))
        #expect(try library.log == [["1.4"]])
    }

    @Test func `a state that was reset runs it in a database that has it not`() throws {
        #expect(try library.manager().add("1.4"))
        let backup = try SQLiteConnection(path: library.folder + "/backup")
        let manager = try library.manager().manager
        try manager.reset(to: "1.0")
        #expect(try manager.whenMigrating(toVersion: "1.4", in: backup) { _, _ in })
    }

    @Test func `a reset of the database too runs again what lies above its version`() throws {
        let versions = ["1.1", "1.1-2", "1.1-10", "1.2", "1.10"]
        let manager = try library.manager(current: "1.10")
        for version in versions { #expect(try manager.add(version)) }
        let other = try library.manager(named: "Other", current: "1.10")
        #expect(try other.add("1.10"))
        try manager.manager.reset(to: "1.1-2", in: library.db)
        #expect(try library.rows == [["Library", "1.1"], ["Library", "1.1-2"], ["Other", "1.10"]])
        #expect(manager.manager.lastRunVersion == AppVersion("1.1-2"))
        #expect(try versions.map(manager.add) == [false, false, true, true, true])
    }

    @Test(arguments: [("1.5", "newerThanCurrentVersion"), ("1.", "invalidVersion"), ("1.0", "managerClosed")])
    func `a reset that is refused removes no row`(version: String, code: String) throws {
        #expect(try library.manager().add("1.4"))
        try library.db.query("INSERT INTO app_migrations (manager, version) VALUES ('Library', '1.6')")
        var asked = try library.manager().manager
        if code == "managerClosed" { _ = try asked.plan { asked = $0 } }
        let error = #expect(throws: MigrationError.self) { try asked.reset(to: version, in: library.db) }
        #expect(error?.code.description == code)
        #expect(try library.rows == [["Library", "1.4"], ["Library", "1.6"]])
    }

    @Test func `a reset makes no table, and does not guess at a row it can't read`() throws {
        let manager = try library.manager()
        try manager.manager.reset(to: "1.0", in: library.db)
        #expect(try tables(in: library.db) == ["log"])
        #expect(try manager.add("1.4"))
        try library.db.query("INSERT INTO app_migrations (manager, version) VALUES ('Library', 'x')")
        let error = try sqlError { try manager.manager.reset(to: "1.0", in: library.db) }
        #expect(
            error.description
                == "\(library.db.path): The table app_migrations has a version that can't be read: ['x']."
                + " This change was not kept. Rename that table, or fix it by hand."
        )
        #expect(try library.rows.count == 2)
        #expect(manager.manager.lastRunVersion == AppVersion("1.4"))
    }

    @Test(arguments: [("delete", 2), ("delete", 0), ("wal", 1), ("wal", 3)])
    func `the commit is durable before the state is, and the setting comes back`(
        journal: String,
        synchronous: Int64
    ) throws {
        try library.db.query("PRAGMA journal_mode = \(journal)")
        try library.db.query("PRAGMA synchronous = \(synchronous)")
        try library.manager().whenMigrating(toVersion: "1.3") { db throws in
            #expect(try db.query("PRAGMA synchronous") == [[3]])
            #expect(try db.query("PRAGMA fullfsync") == [[1]])
        }
        #expect(try library.db.query("PRAGMA synchronous") == [[.integer(synchronous)]])
        #expect(try library.db.query("PRAGMA fullfsync") == [[0]])
    }

    @Test(
        arguments: [false, true],
        [("delete", 0, 0), ("wal", 0, 1), ("wal", 1, 1)] as [(String, Int64, Int64)]
    )
    func `the last commit of a migrator is durable, and all before it with it`(
        isBorrowed: Bool,
        pragmas: (journal: String, setting: Int64, before: Int64)
    ) throws {
        let db = isBorrowed ? library.db.borrowed : library.db
        try db.query("PRAGMA journal_mode = \(pragmas.journal)")
        try db.query("PRAGMA synchronous = \(pragmas.setting)")
        let migrations = (1...3).map { version in
            Migration(version: version) { db, _ throws in
                #expect(try db.query("PRAGMA synchronous") == [[.integer(version == 3 ? 3 : pragmas.before)]])
            }
        }
        try Migrator(migrations).migrate(db)
        #expect(try db.query("PRAGMA synchronous") == [[.integer(pragmas.setting)]])
        let failing = try Migrator([Migration(version: 4, sql: "nonsense")])
        _ = try sqlError { try failing.migrate(db) }
        #expect(try db.query("PRAGMA synchronous") == [[.integer(pragmas.setting)]])
    }
}

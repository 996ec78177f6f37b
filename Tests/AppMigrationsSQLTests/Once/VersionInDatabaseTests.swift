import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQL
@testable import AppMigrationsSQLite

@Suite(.temporaryDirectory) struct VersionInDatabaseTests {
    let library: Library

    init() throws { library = try Library() }

    @Test func `a closure runs once, in a transaction that writes its row`() throws {
        let ran = try library.manager().whenMigrating(toVersion: "1.4.0") { db in
            #expect(try db.isInTransaction)
            try db.query("INSERT INTO log VALUES ('1.4')")
        }
        #expect(ran)
        #expect(try !library.db.isInTransaction)
        #expect(try library.rows == [["Library", "1.4"]])
        #expect(try !library.manager().whenMigrating(toVersion: "1.4") { _ in Issue.record("again") })
        #expect(try library.log == [["1.4"]])
    }

    @Test func `a version that a hotfix brought runs once, below the last-run version`() throws {
        #expect(try library.manager(current: "1.5").manager.whenMigrating(toVersion: "1.5") {})
        for isFirst in [true, false] {
            let manager = try library.manager(current: "1.5").manager
            let ran = try manager.whenMigrating(toVersion: "1.4", addedIn: "1.5", in: library.db) { _, _ in
            }
            #expect(ran == isFirst)
            #expect(manager.lastRunVersion == AppVersion("1.5"))
        }
        #expect(try library.rows == [["Library", "1.4"]])
    }

    @Test func `a closure with a context knows its attempt`() throws {
        #expect(throws: MigrationError.self) {
            try library.manager().whenMigrating(toVersion: "1.4") { _ in throw Failure() }
        }
        let ran = try library.manager().manager.whenMigrating(toVersion: "1.4", in: library.db) {
            db,
            context in
            #expect(context.attempt == 2)
            #expect(context.version == AppVersion("1.4"))
            try db.query("INSERT INTO log VALUES ('1.4')")
        }
        #expect(ran)
    }

    @Test(arguments: [
        ("1.4", "1.4"), ("1.4.0", "1.4"), ("1.4.0.0", "1.4"), ("2", "2"), ("10.0", "10"), ("0", "0"),
        ("0.0", "0"), ("1.4-0", "1.4-0"), ("1.4.0-10", "1.4-10"), ("01.04", "1.4"), ("1.0.4", "1.0.4"),
        ("2.0.3.9.6.7.8.9.10.11.12.0", "2.0.3.9.6.7.8.9.10.11.12"),
    ])
    func `equal versions have one row`(version: String, text: String) throws {
        #expect(AppMigrationsTable.text(of: try AppVersion(parsing: version)) == text)
    }

    @Test func `managers, versions and databases have rows of their own`() throws {
        let other = try SQLiteConnection(path: library.folder + "/other")
        var runs = [String]()
        for name in ["Library", "Preferences"] {
            let manager = try library.manager(named: name).manager
            try manager.whenMigrating(toVersion: "1.3", in: library.db) { _, _ in runs.append("\(name) 1.3")
            }
            try manager.whenMigrating(toVersion: "1.4", in: other) { _, _ in runs.append("\(name) 1.4") }
        }
        #expect(runs == ["Library 1.3", "Library 1.4", "Preferences 1.3", "Preferences 1.4"])
        #expect(try library.rows == [["Library", "1.3"], ["Preferences", "1.3"]])
    }

    @Test(arguments: [false, true])
    func `what a closure throws comes out as it is, and nothing of it is in the database`(
        isBorrowed: Bool
    ) throws {
        let db = isBorrowed ? library.db.borrowed : library.db
        let manager = try library.manager().manager
        let error = #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.4", in: db) { db, _ in
                try db.query("INSERT INTO log VALUES ('half')")
                throw Failure()
            }
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.underlyingError is Failure)
        #expect(try library.log.isEmpty)
        #expect(try library.rows.isEmpty)
        #expect(try !library.db.isInTransaction)
        let blocked = #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.4-1", in: db) { _, _ in Issue.record("ran") }
        }
        #expect(blocked?.code == .managerClosed)
        #expect(try library.manager().add("1.4"))
    }

    @Test func `a statement that fails is the error behind the manager's`() throws {
        let error = #expect(throws: MigrationError.self) {
            try library.manager().whenMigrating(toVersion: "1.4") { try $0.query("INSERT INTO none") }
        }
        #expect((error?.underlyingError as? SQLError)?.code == .statementFailed)
    }

    @Test func `a cancelled closure is a cancelled migration`() throws {
        let error = #expect(throws: MigrationError.self) {
            try library.manager().whenMigrating(toVersion: "1.4") { _ in throw CancellationError() }
        }
        #expect(error?.code == .cancelled)
    }

    @Test func `a transaction of the caller is refused, since the caller could roll it back`() throws {
        for db in [library.db, library.db.borrowed] {
            try library.db.query("BEGIN")
            let error = #expect(throws: MigrationError.self) {
                try library.manager().manager.whenMigrating(toVersion: "1.4", in: db) { _, _ in
                    Issue.record("ran")
                }
            }
            let cause = error?.underlyingError as? SQLError
            #expect(
                cause?.description == "\(library.db.path): The connection is in a transaction already."
                    + " No migration was run. Commit first, or pass insideTransaction: true."
            )
            try library.db.query("ROLLBACK")
        }
    }

    @Test func `a table can be rebuilt, and rows that refer to none are refused`() throws {
        try library.db.execute(
            script: """
                PRAGMA foreign_keys = ON;
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(parent REFERENCES parent(id) ON DELETE CASCADE);
                INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1);
                """
        )
        let error = #expect(throws: MigrationError.self) {
            try library.manager().whenMigrating(toVersion: "1.3") { try $0.query("DELETE FROM parent") }
        }
        #expect((error?.underlyingError as? SQLError)?.code == .foreignKeyViolation)
        try library.manager().whenMigrating(toVersion: "1.3") { db in
            try db.execute(
                script: """
                    CREATE TABLE new(id INTEGER PRIMARY KEY, name); INSERT INTO new SELECT id, '' FROM parent;
                    DROP TABLE parent; ALTER TABLE new RENAME TO parent;
                    """
            )
        }
        #expect(try library.db.query("SELECT parent FROM child") == [[1]])
        #expect(try library.db.query("PRAGMA foreign_keys") == [[1]])
    }

    @Test func `a database that can't be opened is the error behind the manager's`() throws {
        let path = library.folder + "/none/db"
        let error = #expect(throws: MigrationError.self) {
            let manager = try library.manager().manager
            try manager.whenMigrating(toVersion: "1.4", in: try SQLiteConnection(path: path)) { _, _ in
                Issue.record("ran")
            }
        }
        #expect((error?.underlyingError as? SQLError)?.code == .cannotOpen)
        #expect((error?.underlyingError as? SQLError)?.path == path)
        #expect(try library.manager().add("1.4"))
    }

    @Test func `a lock held for longer than the wait is an error, and the next start runs it`() throws {
        let holder = try SQLiteConnection(path: library.folder + "/db")
        try holder.query("BEGIN IMMEDIATE")
        let error = #expect(throws: MigrationError.self) {
            try library.manager().manager.whenMigrating(
                toVersion: "1.4",
                in: library.db,
                lockTimeout: .inVain
            ) { _, _ in Issue.record("ran") }
        }
        #expect((error?.underlyingError as? SQLError)?.code == .busy)
        try holder.query("COMMIT")
        #expect(try library.manager().add("1.4"))
    }

    @Test func `an app's own table of that name is left alone`() throws {
        try library.db.query("CREATE TABLE app_migrations(x)")
        let error = #expect(throws: MigrationError.self) { try library.manager().add("1.4") }
        #expect(
            (error?.underlyingError as? SQLError)?.description
                == "\(library.db.path): The table app_migrations is no ledger of this library, because its columns are x."
                + " No migration was run. Give this migrator a ledger of its own (ledger:)."
        )
        #expect(try library.log.isEmpty)
    }
}

/// A manager that only looks, and a database.
@Suite(.temporaryDirectory) struct VersionInDatabaseLookTests {
    let library: Library

    init() throws { library = try Library() }

    private func look(_ library: Library) throws -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: "1.4",
            firstRun: .existingData(at: "1.0"),
            stateDirectory: library.folder + "/state",
            options: MigrationManager.Options(isReadOnly: true)
        )
    }

    @Test func `a pending declaration throws without a connection`() throws {
        func open() throws -> SQLiteConnection {
            Issue.record("opened")
            return library.db
        }
        let look = try look(library)
        let rows = try look.plan { try $0.whenMigrating(toVersion: "1.4", in: try open()) { _, _ in } }
        #expect(rows.map(\.description) == ["1.4 willRun"])
        #expect(try !look.whenMigrating(toVersion: "1.0", in: try open()) { _, _ in })
        let error = #expect(throws: MigrationError.self) {
            try look.whenMigrating(toVersion: "1.4", in: try open()) { _, _ in Issue.record("ran") }
        }
        #expect(error?.code == .readOnly)
        #expect(!FileManager.default.fileExists(atPath: library.folder + "/state"))
    }

    @Test func `a reset removes no row`() throws {
        try library.db.query("CREATE TABLE app_migrations(manager TEXT, version TEXT)")
        try library.db.query("INSERT INTO app_migrations VALUES ('Library', '1.4')")
        let error = #expect(throws: MigrationError.self) {
            try look(library).reset(to: "1.0", in: library.db)
        }
        #expect(error?.code == .readOnly)
        #expect(try library.rows == [["Library", "1.4"]])
    }
}

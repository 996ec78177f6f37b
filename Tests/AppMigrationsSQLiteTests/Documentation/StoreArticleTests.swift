import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

@Suite struct StoreArticleTests {
    private func migrator() throws -> Migrator {
        try Migrator([Migration(version: 1, sql: "ALTER TABLE note ADD COLUMN size")])
    }

    private static let schema = "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, size)"

    private func makeStore(_ path: String) throws {
        try SQLiteConnection(path: path).execute(
            script: "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO note VALUES (1, 'one')"
        )
    }

    @Test func `a store is replaced once, and has a backup, as the article says`() throws {
        let migrator = try migrator()
        try withTemporaryFolder { folder in
            let path = folder + "/store"
            try makeStore(path)
            #expect(try replacing(path, migrator))
            #expect(try SQLiteConnection(path: path).query("SELECT * FROM note") == [[1, "one", nil]])
            #expect(try SQLiteConnection(path: path + ".bak").query("SELECT * FROM note") == [[1, "one"]])
            #expect(try !replacing(path, migrator))
        }
    }

    @Test func `of two that find the same migrations pending one replaces the store, and its backup stays`()
        throws
    {
        let migrator = try migrator()
        try withTemporaryFolder { folder in
            let path = folder + "/store"
            try makeStore(path)
            let (isAskedHere, isAskedThere, isDone) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            nonisolated(unsafe) var other: Result<Bool, any Error>?
            Thread.detachNewThread {
                other = Result {
                    try replacing(path, migrator) {
                        isAskedThere.signal()
                        isAskedHere.wait()
                    }
                }
                isDone.signal()
            }
            let mine = Result {
                try replacing(path, migrator) {
                    isAskedHere.signal()
                    isAskedThere.wait()
                }
            }
            isDone.wait()
            #expect(try [mine.get(), #require(other).get()].filter { $0 }.count == 1)
            #expect(try SQLiteConnection(path: path).query("SELECT * FROM note") == [[1, "one", nil]])
            #expect(try SQLiteConnection(path: path + ".bak").query("SELECT * FROM note") == [[1, "one"]])
        }
    }

    @Test func `what a process left that died after it had replaced the store goes, as the article says`()
        throws
    {
        try withTemporaryFolder { folder in
            let path = folder + "/store"
            try makeStore(path)
            let store = SQLiteStore(path: path)
            func leave() throws {
                for ending in [".migrating", ".migrating-wal", ".migrating-lock", ".bak-earlier"] {
                    try write("left", to: path + ending)
                }
            }
            #expect(try replacing(path, migrator()))
            try leave()
            #expect(try !replacing(path, migrator()))
            #expect(try StagedMigrationTests.names(beside: store) == ["store", "store.bak"])
            try leave()
            #expect(try !planning(store, Self.schema))
            #expect(try StagedMigrationTests.names(beside: store) == ["store", "store.bak"])
        }
    }

    @Test(arguments: [
        schema, schema + "; CREATE INDEX by_size ON note(size)",
        "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, size, pinned)",
    ])
    func `an older app leaves the store of a newer one, as the article says`(newer: String) throws {
        try withTemporaryFolder { folder in
            let store = SQLiteStore(path: folder + "/store")
            #expect(try planning(store, newer, release: 2))
            let before = try Wreck.bytes(store.path)
            #expect(throws: NewerStore.self) { try planning(store, Self.schema, release: 1) }
            #expect(try Wreck.bytes(store.path) == before)
        }
    }

    @Test func `a new install gets its tables, and a migration of rows alone is run`() throws {
        let first = Migration(version: 1, sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)")
        let second = Migration(version: 2, sql: "INSERT INTO note VALUES (1, 'welcome')")
        try withTemporaryFolder { folder throws in
            let path = folder + "/store"
            #expect(try replacing(path, Migrator([first])))
            #expect(try SQLiteConnection(path: path).query("SELECT * FROM note") == [])
            #expect(try replacing(path, Migrator([first, second])))
            #expect(try SQLiteConnection(path: path).query("SELECT * FROM note") == [[1, "welcome"]])
            #expect(try !replacing(path, Migrator([first, second])))
        }
    }

    @Test func `a plan makes, changes or leaves a store, as the article says`() throws {
        try withTemporaryFolder { folder in
            let store = SQLiteStore(path: folder + "/store")
            let schema = "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)"
            #expect(try planning(store, schema))
            #expect(try !planning(store, schema))
            try SQLiteConnection(path: store.path).query("INSERT INTO note VALUES (1, 'one')")
            #expect(try planning(store, Self.schema))
            #expect(try SQLiteConnection(path: store.path).query("SELECT * FROM note") == [[1, "one", nil]])
            #expect(throws: Unanswered.self) { try planning(store, schema) }
        }
    }

    @Test func `a cache that can't be migrated begins anew, as the article says`() throws {
        try withTemporaryFolder { folder in
            let store = SQLiteStore(path: folder + "/cache")
            try SQLiteConnection(path: store.path).query("CREATE TABLE other(a)")
            let fresh = try Migrator([Migration(version: 1, sql: "CREATE TABLE other(a, b)")])
            try opening(cache: store, fresh).close()
            #expect(try store.status(target: "CREATE TABLE other(a, b)").text == "same")
            #expect(try contents(of: folder).count == 2)
        }
    }

    @Test func `progress is shown and can cancel, as the article says`() throws {
        let migrator = try migrator()
        try withTemporaryFolder { folder in
            let store = SQLiteStore(path: folder + "/store")
            try makeStore(store.path)
            let impatient = Showing(show: { _ in }, isCancelled: { true })
            #expect(try sqlError { try impatient.migrate(store, migrator) }.code == .stopped)
            var shown = [Double]()
            let patient = Showing(show: { shown.append($0) }, isCancelled: { false })
            try patient.migrate(store, migrator)
            #expect(shown == shown.sorted())
            #expect(shown.first == 0 && shown.contains(0.5) && shown.last == 0.8, "\(shown)")
            #expect(try SQLiteConnection(path: store.path).query("SELECT * FROM note") == [[1, "one", nil]])
        }
    }

    @Test func `damage that a migration meets gives way to the backup, as the article says`() throws {
        let rows = [Migration(version: 1, sql: "UPDATE note SET body = body || 'x' WHERE body <> ''")]
        try withTemporaryFolder { folder in
            let path = folder + "/store"
            try makeStore(path + ".bak")
            try Wreck.makeDamagedInside(path)
            var aside = [String]()
            let mending = Mending(migrator: try Migrator(rows)) {
                aside.append($0.path)
                try FileManager.default.copyItem(atPath: $0.storePath + ".bak", toPath: $0.storePath)
            }
            let db = try mending.open(path)
            #expect(try db.query("SELECT * FROM note") == [[1, "onex"]])
            #expect(aside.count == 1)
            db.close()
            let again = try mending.open(path)
            #expect(try again.query("SELECT * FROM note") == [[1, "onex"]])
            #expect(aside.count == 1)
        }
    }

    @Test func `a cache with damage inside begins anew, as the article says`() throws {
        try withTemporaryFolder { folder in
            let store = SQLiteStore(path: folder + "/cache")
            try Wreck.makeDamagedInside(store.path)
            let rows = Migration(
                version: 1,
                sql: "CREATE TABLE IF NOT EXISTS note(body); UPDATE note SET body = 'x' WHERE body <> ''"
            )
            let cache = try opening(cache: store, Migrator([rows]))
            #expect(try cache.query("SELECT * FROM note") == [])
            #expect(try contents(of: folder).count == 2)
        }
    }

    @Test func `a backup is brought up where the state is ahead of it, as the article says`() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/store"
            func start() throws -> [[SQLValue]] {
                let migrations = try MigrationManager(
                    currentVersion: "2.0",
                    firstRun: .everything,
                    stateDirectory: folder + "/state"
                )
                let db = try opening(path, migrations) { _, _ in }
                defer { db.close() }
                for version in ["1.5", "2.0"] {
                    try migrations.whenMigrating(toVersion: version, in: db) { db, batch, _ in
                        if batch.cursor != nil { return .done }
                        try db.query("UPDATE note SET body = body || ?", [.text(" " + version)])
                        return .continue(at: "1")
                    }
                    if version == "1.5", !FileManager.default.fileExists(atPath: path + ".bak") {
                        try FileManager.default.copyItem(atPath: path, toPath: path + ".bak")
                    }
                }
                return try db.query("SELECT body FROM note")
            }
            try makeStore(path)
            #expect(try start() == [["one 1.5 2.0"]])
            try write("damage", to: path)
            #expect(try start() == [["one 1.5 2.0"]])
        }
    }

    @Test func `a damaged store gives way to its backup, as the article says`() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/store"
            try makeStore(path + ".bak")
            try write("damage", to: path)
            var aside = [String]()
            let migrations = try MigrationManager(
                currentVersion: "2.0",
                firstRun: .everything,
                stateDirectory: folder + "/state"
            )
            let db = try opening(path, migrations) { error, path in
                #expect(error?.code == .damaged)
                aside.append(path)
            }
            #expect(try db.query("SELECT * FROM note") == [[1, "one"]])
            db.close()
            try write("more damage", to: path)
            try checking(SQLiteStore(path: path), Self.schema) { _, path in aside.append(path) }
            #expect(try aside.map { try Wreck.bytes($0) } == [Data("damage".utf8), Data("more damage".utf8)])
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}

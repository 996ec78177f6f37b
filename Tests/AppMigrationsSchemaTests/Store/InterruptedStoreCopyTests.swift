import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// What the recipe "rename to _bak, create, copy, delete" has left of a store where a process died in it.
@Suite(.temporaryDirectory) struct InterruptedStoreCopyTests {
    private static var store: String { TemporaryDirectory.current.file("store") }
    private static var backup: String { store + "_bak" }

    private var copy: InterruptedStoreCopy { InterruptedStoreCopy(of: Self.store) }

    private static let rows = 60

    /// The store before the recipe: 60 rows, of which the last ten are only in its log if it has one.
    private static func makeOld(_ path: String, log: Bool = false, journal: String = "delete") throws {
        let db = try SQLiteConnection(path: path)
        try db.query("PRAGMA page_size = 512")
        try db.query("PRAGMA journal_mode = \(log ? "wal" : journal)")
        try db.execute(
            script: "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); CREATE INDEX by_body ON note(body)"
        )
        let insert = """
            WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            INSERT INTO note SELECT i, 'the body of note ' || i FROM n
            """
        try db.query(insert, [1, 50])
        if log {
            try db.query("PRAGMA wal_checkpoint(TRUNCATE)")
            db.keepLogOnClose()
        }
        try db.query(insert, [51, 60])
        db.close()
    }

    /// The store that the recipe makes, with so many rows.
    private static func makeNew(_ path: String, rows: Int, log: Bool = false) throws {
        let db = try SQLiteConnection(path: path)
        try db.query("PRAGMA page_size = 512")
        if log {
            try db.query("PRAGMA journal_mode = wal")
            db.keepLogOnClose()
        }
        try db.execute(
            script: "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, size INTEGER); CREATE TABLE made(a)"
        )
        for id in 0..<rows {
            try db.query("INSERT INTO note VALUES (?, 'new', 3)", [.integer(Int64(id + 1))])
        }
        db.close()
    }

    private static func move(_ old: String, to new: String) throws {
        try FileManager.default.moveItem(atPath: old, toPath: new)
    }

    private static func remove(_ path: String) throws {
        try FileManager.default.removeItem(atPath: path)
    }

    /// The old store as a backup, and its log at `log`.
    private static func makeBackup(log: String? = nil) throws {
        let living = TemporaryDirectory.current.file("living")
        try makeOld(living, log: log != nil)
        if let log { try move(living + "-wal", to: log) }
        try move(living, to: backup)
        for ending in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: living + ending) {
            try remove(living + ending)
        }
    }

    struct Trace: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let state: InterruptedStoreCopy.State
        /// True if a file is kept when the backup becomes the store.
        var isKept = true
        let make: @Sendable () throws -> Void

        init(
            _ description: String,
            _ state: InterruptedStoreCopy.State,
            isKept: Bool = true,
            make: @escaping @Sendable () throws -> Void
        ) {
            testDescription = description
            self.state = state
            self.isKept = isKept
            self.make = make
        }
    }

    /// The states in which the backup becomes the store without a choice.
    static let decided: [Trace] = [
        Trace("no store", .backupOnly, isKept: false) { try makeBackup() },
        Trace("a store without a byte", .backupOnly) {
            try makeBackup()
            try write("", to: store)
        },
        Trace("a store of one empty page", .backupOnly) {
            try makeBackup()
            let db = try SQLiteConnection(path: store)
            try db.query("PRAGMA user_version = 3")
            db.close()
        },
        Trace("a store in which only a ledger is", .backupOnly) {
            try makeBackup()
            let db = try SQLiteConnection(path: store)
            try db.execute(script: "CREATE TABLE schema_migrations(version INTEGER PRIMARY KEY)")
            db.close()
        },
        Trace("a store with only a ledger and a table of closures, both with other names", .backupOnly) {
            try makeBackup()
            let db = try SQLiteConnection(path: store)
            try db.execute(
                script: """
                    CREATE TABLE songs(version, name, checksum, applied_at);
                    CREATE TABLE closures(manager, version, cursor);
                    """
            )
            db.close()
        },
        Trace("the log at its right name", .backupOnly, isKept: false) {
            try makeBackup(log: backup + "-wal")
        },
        Trace("the log at the store's name", .backupOnly, isKept: false) {
            try makeBackup(log: store + "-wal")
        },
        Trace("the log at the name of a store without a byte", .backupOnly) {
            try makeBackup(log: store + "-wal")
            try write("", to: store)
        },
        Trace("the log with the ending last", .backupOnly, isKept: false) {
            try makeBackup(log: store + "-wal_bak")
        },
        Trace("the log with the ending last, and an index of each", .backupOnly, isKept: false) {
            try makeBackup(log: store + "-wal_bak")
            try write("index", to: store + "-shm_bak")
            try write("index", to: store + "-shm")
        },
        Trace("the log at the store's name, and an empty one at the backup's", .backupOnly, isKept: false) {
            try makeBackup(log: store + "-wal")
            try write("", to: backup + "-wal")
        },
        Trace("a journal of an earlier commit", .backupOnly) {
            try makeBackup()
            try write(String(repeating: "\0", count: 512), to: store + "-journal")
        },
    ]

    /// The states that don't tell which file has the right rows.
    static let undecided: [Trace] = [
        Trace("an empty table", .both) {
            try makeBackup()
            try makeNew(store, rows: 0)
        },
        Trace("half of the rows", .both) {
            try makeBackup()
            try makeNew(store, rows: 30)
        },
        Trace("all rows", .both) {
            try makeBackup()
            try makeNew(store, rows: rows)
        },
        Trace("a store whose only table has some columns of a ledger", .both) {
            try makeBackup()
            let db = try SQLiteConnection(path: store)
            try db.query("CREATE TABLE made(version, name)")
            db.close()
        },
        Trace("a new store with its log", .both) {
            try makeBackup()
            try makeNew(store, rows: 30, log: true)
        },
        Trace("both with their logs", .both) {
            try makeBackup(log: backup + "-wal")
            try makeNew(store, rows: 30, log: true)
        },
        Trace("the backup's log next to a new store", .both) {
            try makeBackup(log: store + "-wal")
            try makeNew(store + "-new", rows: 30)
            try move(store + "-new", to: store)
        },
        Trace("a store that is half written", .damagedStore) {
            try makeBackup()
            try makeNew(store, rows: 500)
            try FileHandle(forWritingTo: URL(filePath: store)).truncate(atOffset: 2_048)
        },
        Trace("a store that is no database", .damagedStore) {
            try makeBackup()
            try write(String(repeating: "no database\n", count: 90), to: store)
        },
    ]

    /// The contents of the files that have some, without the indexes of logs.
    private func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: TemporaryDirectory.current.path)
        where !name.hasSuffix("-shm") {
            let data = try Data(contentsOf: URL(filePath: TemporaryDirectory.current.file(name)))
            if !data.isEmpty { files[name] = data }
        }
        return files
    }

    private func expectOld(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        #expect(
            try db.query("SELECT count(*), min(id), max(id) FROM note WHERE body LIKE 'the body of note %'")
                == [[60, 1, 60]],
            sourceLocation: sourceLocation
        )
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]], sourceLocation: sourceLocation)
    }

    @Test(arguments: decided)
    func `a store of which only the backup is left comes back with every commit`(trace: Trace) throws {
        try trace.make()
        let before = try files()
        #expect(try copy.state() == trace.state)
        #expect(try files() == before)
        let recovery = try copy.recover()
        #expect(recovery.state == trace.state)
        #expect((recovery.keptPath != nil) == trace.isKept)
        try expectOld(Self.store)
        #expect(try copy.state() == .none)
        #expect(try copy.recover() == .init(state: .none, keptPath: nil))
        let names = try FileManager.default.contentsOfDirectory(atPath: TemporaryDirectory.current.path)
        #expect(!names.contains { $0.contains("_bak") || $0.contains("migrating") }, "\(names)")
    }

    @Test(arguments: undecided)
    func `two stores are asked about, and nothing is changed`(trace: Trace) throws {
        try trace.make()
        let before = try files()
        #expect(try copy.state() == trace.state)
        let error = try sqlError { try copy.recover() }
        #expect(error.code == .undecidedCopy)
        let reason =
            trace.state == .both
            ? "either may have the right rows" : "the store is damaged or half written"
        let resolved = try SQLiteStore(path: Self.store).files.store
        #expect(
            error.description
                == "\(resolved): \(resolved)_bak exists next to the store, and \(reason)."
                + " Nothing was changed. Choose one of them (choosing:). The other one is kept."
        )
        #expect(try files() == before)
        let recovery = try copy.recover(choosing: .backup)
        #expect(recovery.state == trace.state)
        try expectOld(Self.store)
        let kept = try #require(recovery.keptPath)
        #expect(kept.hasPrefix(resolved + "-corrupt-"))
        if trace.state == .both {
            #expect(try SQLiteConnection(path: kept).query("SELECT count(*) FROM made") == [[0]])
        } else {
            #expect(before["store"] == FileManager.default.contents(atPath: kept))
        }
        #expect(try copy.state() == .none)
    }

    @Test(arguments: undecided)
    func `the store stays by choice, and the backup is kept with every commit`(trace: Trace) throws {
        try trace.make()
        let store = try Data(contentsOf: URL(filePath: Self.store))
        let recovery = try copy.recover(choosing: .store)
        #expect(recovery.state == trace.state)
        let kept = try #require(recovery.keptPath)
        #expect(kept.hasPrefix(try SQLiteStore(path: Self.backup).files.store + "-corrupt-"))
        try expectOld(kept)
        #expect(try copy.state() == .none)
        #expect(try Data(contentsOf: URL(filePath: Self.store)) == store)
        if trace.state == .both {
            #expect(try SQLiteConnection(path: Self.store).query("SELECT count(*) FROM made") == [[0]])
        }
    }

    /// Logs that can belong to either file, and whether the store exists.
    static let unclear: [Trace] = [
        Trace("the whole log of a new store that is gone", .unclearLog) {
            try makeBackup()
            try makeNew(store, rows: 3, log: true)
            try remove(store)
        },
        Trace("rows that were deleted last", .unclearLog) {
            try makeBackup()
            let db = try SQLiteConnection(path: backup)
            try db.query("PRAGMA journal_mode = wal")
            db.keepLogOnClose()
            try db.query("DELETE FROM note WHERE id = 7")
            db.close()
            try move(backup + "-wal", to: store + "-wal")
            try remove(backup + "-shm")
        },
        Trace("a log that fits two files of one schema", .unclearLog) {
            try makeBackup(log: store + "-wal")
            try FileManager.default.copyItem(atPath: backup, toPath: store)
        },
    ]

    @Test(arguments: unclear) func `a log that can belong to either file is asked about`(trace: Trace) throws
    {
        try trace.make()
        let before = try files()
        #expect(try copy.state() == .unclearLog)
        for choice in [nil, InterruptedStoreCopy.Choice.store, .backup] {
            let error = try sqlError { try copy.recover(choosing: choice) }
            #expect(error.code == .undecidedLog)
            let resolved = try SQLiteStore(path: Self.store).files.store
            #expect(
                error.description
                    == "\(resolved): \(resolved)-wal can belong to the store or to its backup \(resolved)_bak."
                    + " Nothing was changed. Say which store it belongs to (log:)."
            )
        }
        #expect(try files() == before)
    }

    @Test(arguments: unclear, [InterruptedStoreCopy.Choice.store, .backup])
    func `an unclear log goes with the file that was named`(
        trace: Trace,
        log: InterruptedStoreCopy.Choice
    ) throws {
        try trace.make()
        let logBytes = try Data(contentsOf: URL(filePath: Self.store + "-wal"))
        let hasStore = FileManager.default.fileExists(atPath: Self.store)
        let expected = try read(with: log == .backup ? Self.store + "-wal" : nil)
        let recovery = try copy.recover(choosing: .backup, log: log)
        #expect(recovery.state == (hasStore ? .both : .backupOnly))
        let db = try SQLiteConnection(path: Self.store)
        #expect(try db.query("SELECT * FROM note") == expected)
        if log == .store, !hasStore {
            let kept = try #require(recovery.keptPath)
            #expect(try Data(contentsOf: URL(filePath: kept + "-wal")) == logBytes)
        }
        #expect(try copy.state() == .none)
    }

    /// The rows of the backup with a log.
    private func read(with log: String?) throws -> [[SQLValue]] {
        let scratch = TemporaryDirectory.current.file("scratch")
        try FileManager.default.copyItem(atPath: Self.backup, toPath: scratch)
        if let log { try FileManager.default.copyItem(atPath: log, toPath: scratch + "-wal") }
        let db = try SQLiteConnection(path: scratch)
        defer { db.close() }
        return try db.query("SELECT * FROM note")
    }

    @Test func `a journal at the store's name rolls the backup back, and a new store's does not`() throws {
        let living = TemporaryDirectory.current.file("living")
        try Self.makeOld(living)
        let db = try SQLiteConnection(path: living)
        // The pages that were changed are written before the end of the transaction.
        try db.query("PRAGMA cache_size = 1")
        try db.query("BEGIN")
        try db.query("UPDATE note SET body = id || 'changed' || hex(zeroblob(100))")
        try FileManager.default.copyItem(atPath: living, toPath: Self.backup)
        try FileManager.default.copyItem(atPath: living + "-journal", toPath: Self.store + "-journal")
        try db.query("ROLLBACK")
        db.close()
        #expect(try copy.state() == .backupOnly)
        try copy.recover()
        try expectOld(Self.store)

        for path in [Self.store, living] { try Self.remove(path) }
        try Self.makeBackup()
        let new = try SQLiteConnection(path: living + "-new")
        try new.query("PRAGMA cache_size = 1")
        try new.query("BEGIN")
        try new.execute(script: "CREATE TABLE a(b); INSERT INTO a VALUES (zeroblob(100000))")
        try FileManager.default.copyItem(atPath: living + "-new-journal", toPath: Self.store + "-journal")
        try new.query("ROLLBACK")
        #expect(try copy.recover().state == .backupOnly)
        try expectOld(Self.store)
    }

    @Test(arguments: [InterruptedStoreCopy.Choice.store, .backup])
    func `a file that a connection uses is not renamed`(used: InterruptedStoreCopy.Choice) throws {
        try Self.makeBackup()
        try Self.makeNew(Self.store, rows: 30)
        let db = try SQLiteConnection(path: used == .store ? Self.store : Self.backup)
        try db.query("BEGIN IMMEDIATE")
        let before = try files()
        for choice in [InterruptedStoreCopy.Choice.store, .backup] where choice == .backup || used == .backup
        {
            let error = try sqlError { try copy.recover(choosing: choice, lockTimeout: .milliseconds(1)) }
            #expect(error.code == .busy)
        }
        #expect(try files() == before)
        try db.query("ROLLBACK")
        db.close()
        try copy.recover(choosing: .backup)
        try expectOld(Self.store)
    }

    /// A file that SQLite can't read, next to a log that it can't read either and would delete.
    private static func writeDamage(_ path: String) throws -> [String: Data] {
        let damage = ["": Data("damage".utf8), "-wal": Data("damage of the log".utf8)]
        for (ending, bytes) in damage { try bytes.write(to: URL(filePath: path + ending)) }
        return damage
    }

    private static func damage(_ path: String) -> [String: Data?] {
        [
            "": FileManager.default.contents(atPath: path),
            "-wal": FileManager.default.contents(atPath: path + "-wal"),
        ]
    }

    @Test func `a damaged store is kept with its log, which SQLite would delete`() throws {
        try Self.makeBackup()
        let damage = try Self.writeDamage(Self.store)
        #expect(try copy.state() == .damagedStore)
        #expect(Self.damage(Self.store) == damage)
        let kept = try #require(try copy.recover(choosing: .backup).keptPath)
        #expect(Self.damage(kept) == damage)
        try expectOld(Self.store)
    }

    @Test func `a damaged backup keeps its log, whichever file is chosen`() throws {
        try Self.makeNew(Self.store, rows: 30)
        let damage = try Self.writeDamage(Self.backup)
        #expect(try sqlError { try copy.recover(choosing: .backup) }.code == .damaged)
        #expect(Self.damage(Self.backup) == damage)
        let kept = try #require(try copy.recover(choosing: .store).keptPath)
        #expect(Self.damage(kept) == damage)
    }

    @Test func `a damaged backup does not become the store, and can be set aside`() throws {
        try Self.makeBackup()
        try Self.makeNew(Self.store, rows: 30)
        try FileHandle(forWritingTo: URL(filePath: Self.backup)).truncate(atOffset: 2_048)
        let before = try files()
        let error = try sqlError { try copy.recover(choosing: .backup) }
        #expect(error.code == .damaged)
        #expect(error.message.hasPrefix("The backup can't become the store: "))
        #expect(error.path == (try SQLiteStore(path: Self.backup).files.store))
        #expect(try files() == before)
        let recovery = try copy.recover(choosing: .store)
        #expect(FileManager.default.contents(atPath: try #require(recovery.keptPath)) == before["store_bak"])
        #expect(FileManager.default.contents(atPath: Self.store) == before["store"])
    }

    /// A copy can't say that the app never encrypts, so the error doesn't ask for that.
    @Test func `a store of random bytes may be encrypted, and isn't replaced`() throws {
        try Self.makeBackup()
        try Wreck.random(8_192).write(to: URL(filePath: Self.store))
        let before = try files()
        let error = try sqlError { try copy.recover(choosing: .backup) }
        #expect(error.code == .unreachable)
        #expect(
            error.message
                == "The file looks like an encrypted database, which this SQLite cannot read. If no release of the app has"
                + " encrypted it, it is damaged"
        )
        #expect(try files() == before)
    }

    @Test func `a check that is off leaves a log with a wrong name unclear`() throws {
        try Self.makeBackup(log: Self.store + "-wal")
        #expect(try copy.state(check: .off) == .unclearLog)
        try copy.recover(log: .backup, check: .off)
        try expectOld(Self.store)
    }

    @Test func `a store that came back is not set aside as one that a recovery has left`() throws {
        try Self.makeBackup()
        try write(String(repeating: "no database\n", count: 90), to: Self.store)
        let error = try sqlError { try SQLiteStore(path: Self.store).open { _ in throw Failure() } }
        #expect(error.code == .migrationFailed)
        try copy.recover()
        try SQLiteStore(path: Self.store).open { _ in Issue.record("recovered again") }.close()
        try expectOld(Self.store)
    }

    @Test func `a folder without a copy is left alone`() throws {
        #expect(try copy.recover() == .init(state: .none, keptPath: nil))
        try Self.makeOld(Self.store)
        try write("", to: Self.backup)
        let before = try files()
        #expect(try copy.recover() == .init(state: .none, keptPath: nil))
        #expect(try files() == before)
        let same = InterruptedStoreCopy(of: Self.store, backup: Self.store)
        #expect(try sqlError { try same.recover() }.code == .cannotOpen)
        try FileManager.default.createDirectory(
            atPath: Self.store + "-folder",
            withIntermediateDirectories: false
        )
        let folder = InterruptedStoreCopy(of: Self.store, backup: Self.store + "-folder")
        #expect(try sqlError { try folder.recover() }.code == .unreachable)
    }

    @Test(arguments: ["-wal", ".migrating", ".Migrating-backup", ".migrating-lock", ".recovering"])
    func `a backup with the name of a temporary file is refused, and stays`(ending: String) throws {
        let backup = Self.store + ending
        try Self.makeOld(backup)
        let before = try files()
        let copy = InterruptedStoreCopy(of: Self.store, backup: backup)
        for call in [{ _ = try copy.state() }, { try copy.recover() }] {
            let error = try sqlError { try call() }
            #expect(error.code == .cannotOpen)
            #expect(
                error.message
                    == "The backup \(backup) has a name that SQLite or this library uses for a temporary file of the store."
                    + " Nothing was changed. Rename the backup"
            )
        }
        #expect(try files() == before)
    }

    @Test func `the copies of a recovery that died after its last step are removed`() throws {
        try Self.makeOld(Self.store)
        for ending in [".migrating", ".migrating-wal", ".migrating-lock"] {
            try write("", to: Self.store + ending)
        }
        try copy.recover()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: TemporaryDirectory.current.path) == ["store"]
        )
    }

    @Test func `a backup with a name of its own becomes the store`() throws {
        try Self.makeBackup(log: Self.store + "-wal")
        let old = TemporaryDirectory.current.file("old.sqlite")
        try Self.move(Self.backup, to: old)
        #expect(try InterruptedStoreCopy(of: Self.store, backup: old).recover().state == .backupOnly)
        try expectOld(Self.store)
    }
}

import AppMigrationsSQLite
import Foundation
import Testing

@testable import AppMigrationsSchema

@Suite(.temporaryDirectory) struct StoreAsideTests {
    let folder = TemporaryDirectory.current.path

    private static func isDamaged(_ wreck: Wreck) -> Bool { wreck.expected.hasPrefix("damaged") }

    @Test(arguments: Wreck.all)
    func `only what is damaged is set aside, and not a byte is lost`(wreck: Wreck) throws {
        let store = SQLiteStore(path: folder + "/store")
        try wreck.make(store.path)
        let before = try contents(of: folder)
        do {
            let aside = try store.setAside()
            #expect(Self.isDamaged(wreck))
            #expect(aside.error?.code == .damaged)
            let name = aside.path.split(separator: "/").last.map(String.init) ?? ""
            #expect(name.wholeMatch(of: /store-corrupt-\d{8}T\d{6}Z/) != nil, "\(name)")
            let moved = before.map { ($0.key.replacingOccurrences(of: "store", with: name), $0.value) }
            #expect(try contents(of: folder) == Dictionary(uniqueKeysWithValues: moved))
        } catch let error as SQLError {
            #expect(!Self.isDamaged(wreck), "\(error)")
            #expect(try contents(of: folder) == before)
        }
    }

    /// Nothing in the file tells whether its key is missing or whether it was overwritten.
    @Test(arguments: [Wreck.random(8_192), Wreck.randomAfterMagic])
    func `random bytes are set aside only if the app never encrypts`(bytes: Data) throws {
        let path = folder + "/store"
        try bytes.write(to: URL(filePath: path))
        let error = try sqlError { try SQLiteStore(path: path).open { _ in Issue.record("set aside") } }
        #expect(error.code == .unreachable)
        #expect(
            error.description
                == "\(error.path ?? ""): The file looks like an encrypted database, which this SQLite cannot read. If no"
                + " release of the app has encrypted it, it is damaged: make the store with mayBeEncrypted: false"
                + " (SQLite error 26). Nothing was changed. This says nothing about the content of the store."
        )
        let refusal = try sqlError { try SQLiteStore(path: path).setAside(onlyIfDamaged: false) }
        #expect(refusal.code == .unreachable)
        #expect(try Wreck.bytes(path) == bytes)
        let plain = SQLiteStore(path: path, mayBeEncrypted: false)
        #expect(try plain.status(target: Wreck.target).text == "damaged 26")
        var aside: SQLiteStore.SetAside?
        try plain.open { aside = $0 }.close()
        #expect(try aside.map { try Wreck.bytes($0.path) } == bytes)
        #expect(aside?.error?.message == "The file begins with random bytes and is not a database")
    }

    /// Only the random bytes change their meaning.
    @Test(arguments: Wreck.all)
    func `an app that never encrypts sets nothing else aside`(wreck: Wreck) throws {
        let store = SQLiteStore(path: folder + "/store", mayBeEncrypted: false)
        try wreck.make(store.path)
        let expected =
            wreck.testDescription.hasPrefix("what looks encrypted") ? "damaged 26" : wreck.expected
        #expect(try store.status(target: Wreck.target).text == expected)
    }

    @Test func `a store that is not damaged is not set aside`() throws {
        let store = try Wreck.store()
        let error = try sqlError { try store.setAside(check: .full) }
        #expect(error.code == .notDamaged)
        #expect(
            error.description
                == "\(error.path ?? ""): The store is not damaged. Nothing was renamed."
        )
    }

    @Test func `a sound store that is set aside needs no log`() throws {
        let store = SQLiteStore(path: folder + "/store")
        try Wreck.makeStore(store.path, journal: "wal")
        let db = try SQLiteConnection(path: store.path)
        try db.query("CREATE TABLE newest(a)")
        db.keepLogOnClose()
        db.close()
        let aside = try store.setAside(onlyIfDamaged: false)
        #expect(!FileManager.default.fileExists(atPath: aside.path + "-wal"))
        #expect(try SQLiteConnection(path: aside.path).query("SELECT * FROM newest") == [])
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `a sound store is set aside by choice, whole and in no use`(journal: String) throws {
        let store = SQLiteStore(path: folder + "/store")
        #expect(try sqlError { try store.setAside(onlyIfDamaged: false) }.code == .notDamaged)
        try write("", to: store.path)
        #expect(try sqlError { try store.setAside(onlyIfDamaged: false) }.code == .notDamaged)
        #expect(try contents(of: folder).count == 1)
        try Wreck.makeStore(store.path, journal: journal)
        let other = try SQLiteConnection(path: store.path)
        try other.query("BEGIN")
        try other.query("SELECT * FROM note")
        let error = try sqlError { try store.setAside(onlyIfDamaged: false, lockTimeout: .inVain) }
        #expect(error.code == .busy)
        other.close()
        let aside = try store.setAside(onlyIfDamaged: false)
        #expect(aside.error == nil)
        #expect(try aside.storePath == store.files.store)
        #expect(try StagedMigrationTests.rows(of: aside.path)[0][0] == 500)
        #expect(try contents(of: folder).count == 1)
    }

    @Test func `a failed check is damage only where it was asked for`() throws {
        let store = try Wreck.store()
        try Wreck.change(store.path) { $0[5 * 1_024 + 3] ^= 0x40 }
        #expect(try sqlError { try store.setAside() }.code == .notDamaged)
        #expect(try store.setAside(check: .quick).error?.code == .damaged)
    }

    @Test func `a migration that fails sets nothing aside`() throws {
        let store = try Wreck.store()
        let before = try contents(of: folder)
        _ = try sqlError { try store.migrateStaged { _ in throw Failure() } }
        #expect(try sqlError { try store.setAside() }.code == .notDamaged)
        #expect(try contents(of: folder) == before)
    }

    @Test func `two stores that are set aside in one second have two names`() throws {
        let store = SQLiteStore(path: folder + "/store")
        let paths = try (0..<3).map { number in
            try write("damage \(number)", to: store.path)
            return try store.setAside().path
        }
        #expect(Set(paths).count == 3)
        #expect(try contents(of: folder).count == 3)
    }

    @Test func `a damaged store is set aside, and a backup takes its place`() throws {
        let store = SQLiteStore(path: folder + "/store")
        try Wreck.makeStore(store.path + ".bak")
        try write("damage", to: store.path)
        try write("log", to: store.path + "-wal")
        var aside: SQLiteStore.SetAside?
        let db = try store.open { found in
            aside = found
            try FileManager.default.copyItem(atPath: store.path + ".bak", toPath: store.path)
        }
        #expect(try db.query("SELECT count(*) FROM note") == [[500]])
        let path = try #require(aside?.path)
        #expect(try Wreck.bytes(path) == Data("damage".utf8))
        #expect(try Wreck.bytes(path + "-wal") == Data("log".utf8))
        #expect(aside?.error?.code == .damaged)
        _ = try store.open { _ in Issue.record("set aside again") }
    }

    @Test func `where recovering fails, the next start recovers again, and one that is done does not`() throws
    {
        let store = SQLiteStore(path: folder + "/store")
        try write("damage", to: store.path)
        let error = try sqlError {
            // Half of a store may look whole.
            try store.open {
                try Wreck.makeStore($0.storePath)
                throw Failure()
            }
        }
        #expect(error.code == .migrationFailed)
        #expect(error.underlyingError is Failure)
        var aside: SQLiteStore.SetAside?
        let db = try store.open { aside = $0 }
        #expect(try aside.map { try Wreck.bytes($0.path) } == Data("damage".utf8))
        #expect(aside?.error == nil)
        db.close()
        _ = try store.open { _ in Issue.record("recovered again") }
        #expect(try contents(of: folder).count == 3)
    }

    @Test func `a store that the app removes later is made anew, and not recovered again`() throws {
        let store = SQLiteStore(path: folder + "/store")
        try Wreck.makeStore(store.path + ".bak")
        try write("damage", to: store.path)
        try store.open { try FileManager.default.copyItem(atPath: store.path + ".bak", toPath: $0.storePath) }
            .close()
        try FileManager.default.removeItem(atPath: store.path)
        let db = try store.open { _ in Issue.record("recovered again") }
        #expect(try db.query("SELECT count(*) FROM sqlite_master") == [[0]])
    }

    @Test func `what recovering puts there has to be sound`() throws {
        let store = SQLiteStore(path: folder + "/store")
        try write("damage", to: store.path)
        let error = try sqlError { try store.open { _ in try write("damage, too", to: store.path) } }
        #expect(error.code == .damaged)
        #expect(try Wreck.bytes(store.path) == Data("damage, too".utf8))
    }

    @Test func `a sound store is opened, and a new one made`() throws {
        let store = SQLiteStore(path: folder + "/store")
        try store.open { _ in Issue.record("set aside") }.query("CREATE TABLE a(b)")
        #expect(try store.open { _ in Issue.record("set aside") }.query("SELECT * FROM a") == [])
    }

    @Test(arguments: Wreck.all.filter { $0.expected.hasPrefix("newer") || $0.expected.hasPrefix("unreach") })
    func `what is not damaged and cannot be read is thrown, and kept`(wreck: Wreck) throws {
        let store = SQLiteStore(path: folder + "/store")
        try wreck.make(store.path)
        let before = try contents(of: folder)
        _ = try sqlError { try store.open { _ in Issue.record("set aside") } }
        #expect(try contents(of: folder) == before)
    }

    @Test func `the errors say what is not damage`() throws {
        let newer = SQLiteStore(path: folder + "/newer")
        try Wreck.makeStore(newer.path)
        try Wreck.change(newer.path) { ($0[18], $0[19]) = (3, 3) }
        let first = try sqlError { try newer.open { _ in } }
        #expect(first.code == .newerSchema)
        #expect(
            first.description
                == "\(first.path ?? ""): The file is in the format of a newer SQLite (read version 3)"
                + " (SQLite error 26). Nothing was changed. Update the app, or use a newer SQLite."
        )
        let second = try sqlError { try SQLiteStore(path: folder).open { _ in } }
        #expect(
            second.description == "\(second.path ?? ""): It is not a file. Nothing was changed."
                + " This says nothing about the content of the store."
        )
    }
}

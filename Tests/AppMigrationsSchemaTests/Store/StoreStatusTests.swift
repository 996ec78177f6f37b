import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

@Suite(.temporaryDirectory) struct StoreStatusTests {
    let folder = TemporaryDirectory.current.path

    @Test(arguments: Wreck.all)
    func `each kind of file is told apart, and left as it is`(wreck: Wreck) throws {
        let store = SQLiteStore(path: folder + "/store")
        try wreck.make(store.path)
        let before = try contents(of: folder)
        let status = try store.status(target: Wreck.target)
        #expect(status.text == wreck.expected, "\(status)")
        #expect(try contents(of: folder) == before)
    }

    @Test func `a byte of a row's page shows in a check that was asked for`() throws {
        let store = try Wreck.store()
        try Wreck.change(store.path) { $0[5 * 1_024 + 3] ^= 0x40 }
        #expect(try store.status(target: Wreck.target).text == "same")
        #expect(try store.status(target: Wreck.target, check: .quick).text.hasPrefix("damaged"))
        #expect(try store.status(target: Wreck.target, check: .full).text.hasPrefix("damaged"))
    }

    @Test func `a schema with a byte that is no UTF-8 is a case, too`() throws {
        let store = try Wreck.store()
        let db = try SQLiteConnection(path: store.path)
        // CREATE VIEW v AS SELECT '\xFF'
        let view = "CAST(x'435245415445205649455720762041532053454c4543542027ff27' AS TEXT)"
        try db.query("PRAGMA writable_schema = ON")
        try db.query("INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, \(view))")
        db.close()
        #expect(try store.status(target: Wreck.target).text == "unreachable nil")
    }

    @Test func `a store that somebody is writing is busy`() throws {
        let store = try Wreck.store()
        let other = try SQLiteConnection(path: store.path)
        try other.query("BEGIN EXCLUSIVE")
        let status = try store.status(target: Wreck.target, lockTimeout: .inVain)
        #expect(status.text == "busy 5")
        guard case .busy(let error) = status else { return }
        #expect(error.path?.hasSuffix("/store") == true)
        #expect(error.message == "database is locked")
        let refusal = try sqlError { try store.setAside(lockTimeout: .inVain) }
        #expect(refusal.code == .busy)
        try other.query("ROLLBACK")
        #expect(try store.status(target: Wreck.target).text == "same")
    }

    @Test func `a store that nobody may write is read`() throws {
        let path = folder + "/store"
        try SQLiteConnection(path: path).query("CREATE TABLE note(a)")
        try #require(chmod(folder, 0o555) == 0 && chmod(path, 0o444) == 0)
        defer { chmod(folder, 0o755) }
        let result = try Starter("store", "status", path).finish()
        #expect(result.status == 0, "\(result.lines)")
        #expect(result.lines.first?.hasPrefix("same: ") == true)
    }

    @Test(arguments: ["the file", "the folder"])
    func `a store without rights is unreachable, and not set aside`(what: String) throws {
        let path = folder + "/store"
        try SQLiteConnection(path: path).query("CREATE TABLE note(a)")
        let locked = what == "the file" ? path : folder
        // Whoever tells the status may write to the folder, where it is the file that is locked.
        try #require(chmod(folder, 0o777) == 0)
        try #require(chmod(locked, 0) == 0)
        defer { chmod(locked, 0o777) }
        let result = try Starter("store", "status", path).finish()
        #expect(result.status == 0, "\(result.lines)")
        #expect(result.lines.first?.hasPrefix("unreachable: ") == true, "\(result.lines)")
        #expect(result.lines.dropFirst() == ["unreachable", "unreachable"])
    }

    @Test func `a log that a process left is neither moved nor lost`() throws {
        let path = folder + "/store"
        try Wreck.makeStore(path, journal: "wal")
        let writer = try SQLiteConnection(path: path)
        try writer.query("CREATE TABLE further(a)")
        for ending in ["", "-wal"] {
            try Wreck.bytes(path + ending).write(to: URL(filePath: folder + "/copy" + ending))
        }
        writer.close()
        let before = try (Wreck.bytes(folder + "/copy"), Wreck.bytes(folder + "/copy-wal"))
        #expect(!before.1.isEmpty)
        #expect(try SQLiteStore(path: folder + "/copy").status(target: Wreck.target).text == "undecided")
        #expect(try Wreck.bytes(folder + "/copy") == before.0)
        #expect(try Wreck.bytes(folder + "/copy-wal") == before.1)
    }

    @Test func `a target that is no SQL is the caller's error`() throws {
        let store = try Wreck.store()
        let error = try sqlError { try store.status(target: "CREATE TABEL note(a)") }
        #expect(error.message == "near \"TABEL\": syntax error")
        #expect(error.line == 1)
    }

    @Test(arguments: ["", ":memory:", "a\0b"])
    func `a store is a file`(path: String) throws {
        let error = try sqlError { try SQLiteStore(path: path).status(target: "") }
        #expect(error.message == "A store needs the path of a file")
        #expect(error.code == .cannotOpen)
    }
}

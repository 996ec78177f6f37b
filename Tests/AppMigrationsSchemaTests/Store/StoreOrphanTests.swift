import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// A log or a journal whose store is missing or has no byte: it may be all that is left.
@Suite(.temporaryDirectory) struct StoreOrphanTests {
    let folder = TemporaryDirectory.current.path

    struct Orphan: CustomTestStringConvertible, Sendable {
        let ending: String
        let message: String
        /// True if the store's file is there, without a byte.
        let isEmpty: Bool

        var testDescription: String { message }
    }

    static let orphans = [true, false].flatMap { isEmpty in
        [("-wal", "write-ahead log"), ("-journal", "rollback journal")].map { ending, name in
            Orphan(
                ending: ending,
                message: "The file is \(isEmpty ? "empty" : "missing"), but its \(name) is not",
                isEmpty: isEmpty
            )
        }
    }

    /// A log or journal as a process leaves it that dies in a transaction, or before a checkpoint.
    private static func store(_ orphan: Orphan) throws -> SQLiteStore {
        let path = TemporaryDirectory.current.file("living")
        try Wreck.makeStore(path, journal: orphan.ending == "-wal" ? "wal" : "delete")
        let db = try SQLiteConnection(path: path)
        // Little memory, so that half of the transaction is in the file, and the journal is hot.
        try db.query("PRAGMA cache_size = 1")
        try db.query("BEGIN")
        try db.query("UPDATE note SET body = 'half'")
        if orphan.ending == "-wal" { try db.query("COMMIT") }
        let store = SQLiteStore(path: TemporaryDirectory.current.file("store"))
        try Wreck.bytes(path + orphan.ending).write(to: URL(filePath: store.path + orphan.ending))
        db.close()
        try FileManager.default.removeItem(atPath: path)
        if orphan.isEmpty { try write("", to: store.path) }
        return store
    }

    @Test(arguments: orphans)
    func `it is set aside with every byte, and the app is told`(orphan: Orphan) throws {
        let store = try Self.store(orphan)
        let bytes = try Wreck.bytes(store.path + orphan.ending)
        guard case .damaged(let error) = try store.status(target: Wreck.target) else {
            Issue.record("\(try store.status(target: Wreck.target))")
            return
        }
        #expect(error.message == orphan.message)
        var paths = [String]()
        let failure = try sqlError {
            try store.open {
                paths.append($0.path)
                throw Failure()
            }
        }
        #expect(failure.code == .migrationFailed)
        #expect(
            failure.description
                == "\(try store.files.store): Failure(). The damaged store was set aside as \(paths[0]), and the next call"
                + " recovers again."
        )
        // The closure is called until it returns.
        try store.open { paths.append($0.path) }.close()
        #expect(paths.count == 2 && paths[0] == paths[1])
        #expect(try Wreck.bytes(paths[0] + orphan.ending) == bytes)
        try store.open { _ in Issue.record("recovered again") }.close()
    }

    @Test(arguments: orphans) func `a staged migration refuses to make a store over it`(orphan: Orphan) throws
    {
        let store = try Self.store(orphan)
        let before = try contents(of: Platform.folder(of: store.path))
        let error = try sqlError { try store.migrateStaged { _ in Issue.record("run") } }
        #expect(error.code == .damaged)
        #expect(error.message == orphan.message)
        #expect(try contents(of: Platform.folder(of: store.path)) == before)
        _ = try store.setAside()
        #expect(try store.migrateStaged { try $0.execute(script: Wreck.target) })
    }

    /// Next to a missing database, SQLite deletes such a log, and nothing is lost.
    @Test(arguments: [0, 31, 32, 33])
    func `a log counts only if it has more than its header`(count: Int) throws {
        let living = folder + "/living"
        try Wreck.makeStore(living, journal: "wal")
        let db = try SQLiteConnection(path: living)
        defer { db.close() }
        try db.query("UPDATE note SET body = 'new'")
        let store = SQLiteStore(path: folder + "/store")
        try Wreck.bytes(living + "-wal").prefix(count).write(to: URL(filePath: store.path + "-wal"))
        let status = try store.status(target: Wreck.target).text
        #expect(status == (count > 32 ? "damaged nil" : "missing"))
        var hasSetAside = false
        try store.open { _ in hasSetAside = true }.close()
        #expect(hasSetAside == (count > 32))
    }

    @Test func `a start after a dead one tells the store that was set aside, and not its log`() throws {
        let store = SQLiteStore(path: folder + "/store")
        let aside = store.path + "-corrupt-20200101T000000Z"
        try write("20200101T000000Z\n", to: store.path + ".recovering")
        try write("damage", to: aside)
        let log = String(repeating: "frames", count: 6)
        try write(log, to: store.path + "-wal")
        try store.open {
            #expect($0.path == aside)
            #expect($0.error == nil)
        }
        .close()
        #expect(try Wreck.bytes(aside + "-wal") == Data(log.utf8))
    }

    @Test func `a database that another process is making is not touched`() throws {
        let store = SQLiteStore(path: folder + "/store")
        let maker = try SQLiteConnection(path: store.path)
        try maker.query("BEGIN IMMEDIATE")
        try maker.execute(script: "CREATE TABLE note(a)")
        #expect(try !Wreck.bytes(store.path + "-journal").isEmpty)
        #expect(try store.status(target: Wreck.target).text == "missing")
        #expect(try sqlError { try store.setAside() }.code == .notDamaged)
        try maker.query("COMMIT")
        #expect(try store.status(target: "CREATE TABLE note(a)").text == "same")
    }

    @Test(arguments: ["20200101T000000Z", "../20200101T000000Z\n"])
    func `a mark that isn't whole is written anew`(mark: String) throws {
        let store = SQLiteStore(path: folder + "/store")
        try write(mark, to: store.path + ".recovering")
        try write("mine", to: store.path + "-corrupt-20200101T000000Z")
        try write(String(repeating: "damage", count: 6), to: store.path + "-wal")
        try store.open {
            #expect($0.path != store.path + "-corrupt-20200101T000000Z")
            #expect($0.error != nil)
        }
        .close()
        #expect(try Wreck.bytes(store.path + "-corrupt-20200101T000000Z") == Data("mine".utf8))
    }
}

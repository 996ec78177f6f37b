import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

extension Wreck {
    /// A store in the test's folder.
    static func store(journal: String = "delete") throws -> SQLiteStore {
        let store = SQLiteStore(path: TemporaryDirectory.current.file("store"))
        try makeStore(store.path, journal: journal)
        return store
    }

    private static func changed(
        _ description: String,
        _ expected: String,
        _ body: @escaping @Sendable (inout Data) -> Void
    ) -> Wreck {
        Wreck(description, expected) {
            try makeStore($0)
            try change($0, body)
        }
    }

    private static func edited(_ description: String, _ expected: String, _ sql: String) -> Wreck {
        Wreck(description, expected) {
            try makeStore($0)
            let db = try SQLiteConnection(path: $0)
            defer { db.close() }
            try db.query("PRAGMA writable_schema = ON")
            try db.execute(script: sql)
        }
    }

    /// A store whose log has one commit.
    private static func makeLogged(_ path: String, changing statements: String...) throws {
        try makeStore(path, journal: "wal")
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        db.keepLogOnClose()
        try db.query("PRAGMA wal_autocheckpoint = 0")
        for statement in statements { try db.query(statement) }
    }

    static func random(_ count: Int) -> Data {
        var random = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// The first 16 bytes of a database, and random bytes whose header is possible in no format.
    static var randomAfterMagic: Data {
        var data = Data("SQLite format 3\0".utf8) + random(8_192)
        data[19] = 3
        data[21] = 0
        return data
    }

    static let all: [Wreck] = [
        Wreck("a store", "same") { try makeStore($0) },
        Wreck("a store in WAL mode", "same") { try makeStore($0, journal: "wal") },
        Wreck("nothing", "missing") { _ in },
        Wreck("a link to nothing", "missing") {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: $0 + "-gone")
        },
        Wreck("no byte", "missing") { try write("", to: $0) },
        Wreck("another schema", "migratable") {
            try SQLiteConnection(path: $0).execute(
                script: "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)"
            )
        },
        Wreck("a schema with more", "undecided") {
            try makeStore($0)
            try SQLiteConnection(path: $0).query("CREATE TABLE further(a)")
        },
        Wreck("a text", "damaged 26") {
            try write(String(repeating: "not a database\n", count: 200), to: $0)
        },
        Wreck("a short text", "damaged 26") { try write("oops", to: $0) },
        changed("truncated between pages", "damaged 11") { $0.removeLast(2 * 1_024) },
        changed("truncated within the first page", "damaged 11") { $0.removeLast($0.count - 60) },
        // SQLite reads the missing bytes as zeros, and no check of it notices.
        changed("truncated within the last page", "damaged nil") { $0.removeLast() },
        Wreck("truncated within the last page, in WAL mode", "damaged nil") {
            try makeStore($0, journal: "wal")
            try change($0) { $0.removeLast(1_023) }
        },
        Wreck("truncated within the last page, with a log of other pages", "damaged nil") {
            try makeLogged($0, changing: "UPDATE note SET body = 'other' WHERE id = 1")
            try change($0) { $0.removeLast(50) }
        },
        Wreck("truncated between pages, with a log of other pages", "damaged nil") {
            try makeLogged($0, changing: "UPDATE note SET body = 'other' WHERE id = 1")
            try change($0) { $0.removeLast(3 * 1_024) }
        },
        Wreck("with new pages in the log", "same") {
            try makeLogged($0, changing: "INSERT INTO note SELECT id + 1000, body FROM note")
        },
        Wreck("truncated, with new pages in the log", "damaged nil") {
            try makeLogged($0, changing: "INSERT INTO note SELECT id + 1000, body FROM note")
            try change($0) { $0.removeLast(20 * 1_024) }
        },
        Wreck("truncated within the last page, with older frames in the log", "damaged nil") {
            let all = "UPDATE note SET body = body || '!'"
            let one = "UPDATE note SET body = 'other' WHERE id = 1"
            try makeLogged($0, changing: all, "PRAGMA wal_checkpoint", one)
            try change($0) { $0.removeLast(50) }
        },
        Wreck("truncated within the last page, with no commit in the log", "damaged nil") {
            let all = "UPDATE note SET body = body || '!'"
            try makeLogged($0, changing: "PRAGMA cache_size = 1", "BEGIN", all)
            try change($0) { $0.removeLast(50) }
        },
        // A checkpoint was interrupted: the log has the page.
        Wreck("truncated within the last page, with a log that has it", "same") {
            try makeLogged($0, changing: "UPDATE note SET body = body || '!'")
            try change($0) { $0.removeLast(50) }
        },
        Wreck("with bytes after the last page", "same") {
            try makeStore($0)
            try change($0) { $0.append(contentsOf: [1, 2, 3]) }
        },
        changed("a byte of the header flipped", "damaged 26") { $0[3] ^= 0x20 },
        // The kind of the b-tree page (Database File Format, section 1.6).
        changed("a byte of the schema's page flipped", "damaged 11") { $0[100] ^= 0x08 },
        Wreck("no page but the log", "damaged nil") {
            try write("", to: $0)
            try write(String(repeating: "frames", count: 6), to: $0 + "-wal")
        },
        edited(
            "a statement of a newer SQLite",
            "newer 11",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE note(id BIGKEY ~> 5, body TEXT) FROZEN' WHERE name = 'note'"
        ),
        edited(
            "an object of a newer SQLite",
            "newer 11",
            "INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, 'CREATE FUNCTION v AS MATERIALIZED 1')"
        ),
        changed("a file format of a newer SQLite", "newer 26") { ($0[18], $0[19]) = (3, 3) },
        changed("a schema format of a newer SQLite", "newer 1") { $0[47] = 9 },
        edited(
            "a table's page out of the file",
            "damaged 11",
            "UPDATE sqlite_master SET rootpage = 9999 WHERE name = 'note'"
        ),
        edited(
            "an index without a page",
            "damaged 11",
            "CREATE TABLE u(a UNIQUE); UPDATE sqlite_master SET rootpage = 0 WHERE tbl_name = 'u' AND type = 'index'"
        ),
        edited(
            "an index of no constraint",
            "damaged 11",
            "CREATE TABLE u(a UNIQUE); UPDATE sqlite_master SET sql = 'CREATE TABLE u(a)' WHERE name = 'u'"
        ),
        edited("an index without its table", "damaged 11", "DELETE FROM sqlite_master WHERE name = 'note'"),
        edited(
            "what is no statement at all",
            "damaged 11",
            "UPDATE sqlite_master SET sql = 'CREBTE TABLE note' WHERE name = 'note'"
        ),
        Wreck("what looks encrypted", "unreachable 26") { try random(8_192).write(to: URL(filePath: $0)) },
        Wreck("what looks encrypted, after a plain beginning", "unreachable 26") {
            try randomAfterMagic.write(to: URL(filePath: $0))
        },
        changed("a file format of a newer SQLite, with many values", "newer 26") {
            $0[18] = 3
            $0[19] = 3
            for value in 0..<256 { $0[200 + value] = UInt8(value) }
        },
        Wreck("a folder", "unreachable nil") {
            try FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false)
        },
        Wreck("a link that leads to itself", "unreachable nil") {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: $0)
        },
    ]
}

extension SQLiteStore.Status {
    /// The case, with SQLite's result code.
    var text: String {
        func code(_ error: SQLError) -> String { error.extendedResultCode.map { "\($0 & 0xFF)" } ?? "nil" }
        switch self {
        case .same: return "same"
        case .migratable(let plan): return plan.steps.isEmpty ? "empty" : "migratable"
        case .undecided(let questions): return questions.isEmpty ? "empty" : "undecided"
        case .missing: return "missing"
        case .damaged(let error): return "damaged \(code(error))"
        case .newer(let error): return "newer \(code(error))"
        case .busy(let error): return "busy \(code(error))"
        case .unreachable(let error): return "unreachable \(code(error))"
        }
    }
}

/// Every file in a folder, with its bytes; folders and dead links without.
func contents(of folder: String) throws -> [String: Data] {
    var contents = [String: Data]()
    // SQLite makes the index of a log again whenever it needs one.
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where !name.hasSuffix("-shm") {
        let path = "\(folder)/\(name)"
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        contents[name] = isThere && !isFolder.boolValue ? try Wreck.bytes(path) : Data()
    }
    return contents
}

import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

/// A store is damaged if its ordinary tables or its file are, and not because of an index that can be built again.
@Suite(.temporaryDirectory) struct VirtualTableCheckTests {
    let store = SQLiteStore(path: TemporaryDirectory.current.file("store"))
    private static let checks = [SQLiteStore.Check.quick, .full]

    private static func pragma(_ check: SQLiteStore.Check) -> String {
        check == .full ? "integrity_check" : "quick_check"
    }

    /// The virtual tables that SQLite itself complains about or can't check, if it is asked for each.
    private func tablesWithProblems(_ check: SQLiteStore.Check) throws -> [String] {
        let db = try SQLiteConnection(path: store.path)
        defer { db.close() }
        let tables = try db.query(
            "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY rowid"
        )
        return try tables.map { try $0[0].value(as: String.self) }.filter { table in
            let name = table.replacing("\"", with: "\"\"")
            do { return try db.query("PRAGMA \(Self.pragma(check))(\"\(name)\")") != [["ok"]] } catch {
                return true
            }
        }
    }

    private func rows() throws -> [[SQLValue]] {
        let db = try SQLiteConnection(path: store.path)
        defer { db.close() }
        return try db.query("SELECT id, a FROM e WHERE id < 3")
    }

    @Test(arguments: BrokenIndex.all, checks)
    func `a store with a broken index is opened at each start, and the index is reported`(
        index: BrokenIndex,
        check: SQLiteStore.Check
    ) throws {
        try index.make(store.path)
        let wanted = try tablesWithProblems(check)
        for _ in 0..<2 {
            var problems = [SQLiteStore.VirtualTableProblem]()
            let db = try store.open(check: check, reporting: { problems.append($0) }) {
                Issue.record("set aside: \($0)")
            }
            db.close()
            #expect(problems.map(\.table) == wanted)
            for problem in problems { #expect(problem.complaints.isEmpty == (problem.error != nil)) }
        }
        #expect(try store.open(check: check) { _ in Issue.record("set aside") }.query("SELECT 1") == [[1]])
        #expect(try sqlError { try store.setAside(check: check) }.code == .notDamaged)
        #expect(try rows() == [[1, "hello"], [2, "more"]])
    }

    @Test(arguments: BrokenIndex.all, checks)
    func `the status of a store with a broken index is that of its schema`(
        index: BrokenIndex,
        check: SQLiteStore.Check
    ) throws {
        try index.make(store.path)
        var problems = [SQLiteStore.VirtualTableProblem]()
        let status = try store.status(
            target: "CREATE TABLE e(id INTEGER PRIMARY KEY, a TEXT)",
            check: check,
            reporting: { problems.append($0) }
        )
        #expect(status.text == "undecided")
        #expect(problems.map(\.table) == (try tablesWithProblems(check)))
    }

    @Test(arguments: BrokenIndex.all)
    func `a staged migration runs with a broken index in the store`(index: BrokenIndex) throws {
        try index.make(store.path)
        var problems = [SQLiteStore.VirtualTableProblem]()
        let isReplaced = try store.migrateStaged(reporting: { problems.append($0) }) {
            try $0.query("CREATE TABLE z(a)")
            #expect(problems.isEmpty)
        }
        #expect(isReplaced)
        #expect(problems.map(\.table) == (try tablesWithProblems(.full)))
        #expect(try rows() == [[1, "hello"], [2, "more"]])
    }

    @Test(arguments: BrokenIndex.all, checks)
    func `a staged migration may leave an index that SQLite complains about`(
        index: BrokenIndex,
        check: SQLiteStore.Check
    ) throws {
        try SQLiteConnection(path: store.path).execute(script: BrokenIndex.rows)
        #expect(try store.migrateStaged(check: check) { try $0.execute(script: index.script) })
        #expect(try rows() == [[1, "hello"], [2, "more"]])
    }

    @Test func `a problem says which table it is about, and what SQLite says`() throws {
        // Only SQLite 3.44 and later ask the module.
        let number = try memory().query("SELECT sqlite_version() >= '3.44'")
        try BrokenIndex(name: "", script: "CREATE VIRTUAL TABLE f USING fts4(content='e', a)").make(
            store.path
        )
        var problems = [String]()
        try store.open(check: .quick, reporting: { problems.append($0.description) }) { _ in }.close()
        let complaint = "The virtual table f: malformed inverted index for FTS4 table main.f"
        #expect(problems == (number == [[1]] ? [complaint] : []))
    }

    @Test(arguments: BrokenIndex.all, checks)
    func `damage of an ordinary table is found next to a broken index`(
        index: BrokenIndex,
        check: SQLiteStore.Check
    ) throws {
        try index.make(store.path)
        try damage("e")
        #expect(try store.status(target: "", check: check).text.hasPrefix("damaged"))
        let aside = try store.setAside(check: check)
        #expect(aside.error?.code == .damaged)
    }

    @Test(arguments: BrokenIndex.all)
    func `damage that a staged migration leaves is found next to a broken index`(index: BrokenIndex) throws {
        try index.make(store.path)
        let error = try sqlError {
            try store.migrateStaged {
                try $0.execute(
                    script: """
                        CREATE TABLE u(a); CREATE INDEX k ON u(a); INSERT INTO u VALUES (7); PRAGMA writable_schema = ON;
                        UPDATE sqlite_master SET sql = 'CREATE INDEX k ON u(-a)' WHERE name = 'k'
                        """
                )
            }
        }
        #expect(error.code == .damaged)
        #expect(error.message.hasSuffix(": row 1 missing from index k"), "\(error)")
    }

    /// Writes over the first page of a table.
    private func damage(_ table: String) throws {
        let db = try SQLiteConnection(path: store.path)
        let page = try db.query("SELECT rootpage FROM sqlite_master WHERE name = ?", [.text(table)])[0][0]
        let number = try page.value(as: Int.self)
        db.close()
        try Wreck.change(store.path) { data in
            data.replaceSubrange(
                (number - 1) * 4_096..<number * 4_096,
                with: Data(repeating: 0xA5, count: 4_096)
            )
        }
    }

    @Test(arguments: checks)
    func `the pages of a shadow table are checked like those of any table`(check: SQLiteStore.Check) throws {
        try BrokenIndex(name: "", script: "CREATE VIRTUAL TABLE f USING fts5(a)").make(store.path)
        try damage("f_content")
        #expect(try store.status(target: "", check: check).text.hasPrefix("damaged"))
    }

    /// Makes an index need a collation that only the app's connections have.
    private func addIndexWithUnknownCollation() throws {
        let db = try SQLiteConnection(path: store.path)
        defer { db.close() }
        let index = "CREATE TABLE u(a); CREATE INDEX i ON u(a COLLATE NOCASE); PRAGMA writable_schema = ON;"
        let change = "UPDATE sqlite_master SET sql = replace(sql, 'NOCASE', 'app') WHERE name = 'i'"
        try db.execute(script: index + change)
    }

    @Test(arguments: checks)
    func `damage is found next to a table that can't be checked, and without damage that is an error`(
        check: SQLiteStore.Check
    ) throws {
        try BrokenIndex.all[1].make(store.path)
        try addIndexWithUnknownCollation()
        for _ in 0..<2 {
            let error = try sqlError { try store.open(check: check) { _ in Issue.record("set aside") } }
            #expect(error.code == .statementFailed)
            #expect(error.message == "no such collation sequence: app")
        }
        try damage("e")
        #expect(try store.status(target: "", check: check).text.hasPrefix("damaged"))
        var path: String?
        try store.open(check: check) { path = $0.path }.close()
        #expect(path != nil)
    }

    @Test func `the store stays if a migration met a broken index`() throws {
        let script = """
            CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('x');
            DELETE FROM f_data WHERE id = 10
            """
        try BrokenIndex(name: "", script: script).make(store.path)
        let migrator = try Migrator([Migration(version: 1, sql: "INSERT INTO f VALUES ('hello')")])
        for _ in 0..<2 {
            let db = try store.open(check: .quick) { _ in Issue.record("set aside") }
            let error = try sqlError { try migrator.migrate(db) }
            #expect(error.code == .damaged)
            #expect(error.extendedResultCode == 267)
            #expect(
                error.description.hasSuffix(
                    " shows how to create it again."
                ),
                "\(error)"
            )
            db.close()
        }
        #expect(try rows() == [[1, "hello"], [2, "more"]])
    }
}

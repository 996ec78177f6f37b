import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// Hints stay for good, and databases come from any release.
@Suite struct KeptHintsTests {
    private typealias Hints = SchemaPlan.Hints

    private func plan(_ columns: String, _ rows: String, to target: String, _ hint: String) throws
        -> (plan: SchemaPlan, db: SQLiteConnection)
    {
        let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY\(columns)); INSERT INTO t VALUES \(rows)"
        let db = try database(sql)
        let target = "CREATE TABLE t(id INTEGER PRIMARY KEY, \(target))"
        return (try SchemaPlan(from: db, to: target, hints: Hints(values: ["t": ["e": hint]])), db)
    }

    @Test func `a hint that doesn't use its column fills rows without a value, and converts none`() throws {
        let (rows, target) = ("(1, '5'), (2, NULL), (3, '7')", "e INTEGER NOT NULL")
        let (kept, db) = try plan(", e INTEGER", rows, to: target, "0")
        try kept.apply(db)
        #expect(try db.query("SELECT id, e FROM t") == [[1, 5], [2, 0], [3, 7]])
        let (asked, older) = try plan(", e TEXT", rows, to: target, "0")
        #expect(
            asked.questions.map(\.description) == [
                "The column e of the table t gets a type that can change its values. The hint \"0\" does not use the"
                    + " column, and would replace what is there. Say how; SQLite's own conversion is"
                    + " values: [\"t\": [\"e\": \"coalesce(e, 0)\"]]."
            ]
        )
        #expect(try sqlError { try asked.apply(older) }.code == .openQuestions)
        // The answer serves both, and the release that had no such column.
        for (columns, rows) in [(", e INTEGER", rows), (", e TEXT", rows), ("", "(1), (2), (3)")] {
            let (plan, db) = try plan(columns, rows, to: target, "coalesce(e, 0)")
            try plan.apply(db)
            #expect(try db.query("SELECT e FROM t").last == [columns.isEmpty ? 0 : 7])
        }
    }

    @Test(arguments: ["e", "coalesce(e, 1)", "\"e\"", "t.e"])
    func `a hint for a later release is not used where nothing is asked`(hint: String) throws {
        let (plan, db) = try plan("", "(1)", to: "e INTEGER DEFAULT 4", hint)
        #expect(plan.steps.map(\.description) == ["add the column e to the table t"])
        try plan.apply(db)
        #expect(try db.query("SELECT e FROM t") == [[4]])
    }

    @Test func `an expression may use the name that a column is to get`() throws {
        let db = try database("CREATE TABLE t(a TEXT, c); INSERT INTO t VALUES ('5', 2)")
        let hints = Hints(renamedColumns: ["t": ["a": "b"]], values: ["t": ["b": "b + c"]])
        try SchemaPlan(from: db, to: "CREATE TABLE t(b INTEGER, c)", hints: hints).apply(db)
        #expect(try db.query("SELECT b FROM t") == [[7]])
    }

    @Test(arguments: [
        ("note(headline)", Hints(renamedColumns: ["note": ["title": "headline"]])),
        ("page(title)", Hints(renamedTables: ["note": "page"])),
    ])
    func `renaming what a full-text index draws on is refused`(target: String, hints: SchemaPlan.Hints) throws
    {
        let index = "CREATE VIRTUAL TABLE f USING fts5(title, content='note');"
        let db = try database("CREATE TABLE note(title); \(index)")
        let error = try refused(db) {
            try SchemaPlan(from: db, to: "CREATE TABLE \(target); \(index)", hints: hints).apply(db)
        }
        #expect(error.code == .refusedSchemaChange)
        #expect(error.description.contains("The virtual table f is filled from the "), "\(error)")
    }

    @Test(arguments: [
        ("TEXT NOT NULL DEFAULT TRUE", ""), ("TEXT DEFAULT 7", " STRICT"), ("INTEGER DEFAULT '7'", ""),
    ])
    func `a new column's default is converted as an inserted one is`(column: String, options: String) throws {
        let db = try database("CREATE TABLE t(id INTEGER PRIMARY KEY)\(options); INSERT INTO t VALUES (1)")
        try SchemaPlan(from: db, to: "CREATE TABLE t(id INTEGER PRIMARY KEY, a \(column))\(options)").apply(
            db
        )
        try db.query("INSERT INTO t(id) VALUES (2)")
        #expect(try db.query("SELECT count(DISTINCT typeof(a)), count(DISTINCT a) FROM t") == [[1, 1]])
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
    }

    @Test func `two tables of one shape that are to exchange their names are refused`() throws {
        let sql = "CREATE TABLE a(x); CREATE TABLE b(x)"
        let hints = Hints(renamedTables: ["a": "b", "b": "a"])
        #expect(throws: SQLError.self) { try SchemaPlan(from: database(sql), to: sql, hints: hints) }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a database that skips releases becomes what one becomes that took each`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let columns = (0..<4).map { Column($0, &random) }
        func upgrade(_ db: SQLiteConnection, to release: Int) throws {
            try SchemaPlan(from: db, to: columns.sql(in: release), hints: columns.hints(in: release)).apply(
                db
            )
        }
        for first in 0..<4 {
            let databases = try (0..<2).map { _ in try database(columns.sql(in: first)) }
            for (db, id) in databases.flatMap({ db in (1...4).map { (db, $0) } }) {
                let values = columns.filter { $0.isThere(in: first) }.map {
                    id == 2 && first < $0.tightened ? "NULL" : "\(id)"
                }
                try db.query("INSERT INTO t VALUES (\((["\(id)"] + values).joined(separator: ", ")))")
            }
            for release in (first + 1)...4 { try upgrade(databases[0], to: release) }
            try upgrade(databases[1], to: 4)
            let rows = try databases.map { try $0.query("SELECT * FROM t ORDER BY id") }
            #expect(
                rows[0] == rows[1],
                "\(columns.sql(in: first)) to \(columns.sql(in: 4)), \(columns.hints(in: 4))"
            )
        }
    }
}

/// The life of a column in releases 0 to 4: from which on it is there, has another name or type, is NOT NULL, and is gone.
private struct Column {
    let number, from, renamed, changed, tightened, until: Int
    let isText: Bool

    init(_ number: Int, _ random: inout SeededGenerator) {
        self.number = number
        let begin = number == 0 || random.hits(oneIn: 2) ? 0 : Int.random(in: 1...3, using: &random)
        let dates = (0..<4).map { begin + Int.random(in: $0 == 2 ? 0...6 : 1...6, using: &random) }
        (from, renamed, changed, tightened) = (begin, dates[0], dates[1], dates[2])
        until = number == 0 ? 9 : dates[3]
        isText = random.hits(oneIn: 2)
    }

    func isThere(in release: Int) -> Bool { from <= release && release < until }
    func isText(in release: Int) -> Bool { isText != (changed <= release) }
    func name(in release: Int) -> String { (renamed <= release ? "r" : "c") + "\(number)" }
}

extension [Column] {
    fileprivate func sql(in release: Int) -> String {
        let texts = filter { $0.isThere(in: release) }.map {
            ", \($0.name(in: release)) \($0.isText(in: release) ? "TEXT" : "INTEGER")"
                + ($0.tightened <= release ? " NOT NULL" : "")
        }
        return "CREATE TABLE t(id INTEGER PRIMARY KEY\(texts.joined()))"
    }

    /// What a developer has answered by then.
    fileprivate func hints(in release: Int) -> SchemaPlan.Hints {
        var hints = SchemaPlan.Hints()
        for column in self where column.from <= release {
            let name = column.name(in: Swift.min(release, column.until - 1))
            if name.hasPrefix("r") { hints.renamedColumns["t", default: [:]]["c\(column.number)"] = name }
            if column.until <= release { hints.droppedColumns["t", default: []].insert(name) }
            let filled = "coalesce(\(name), \(column.isText(in: release) ? "'0'" : "0"))"
            let value = column.tightened <= release ? filled : column.changed <= release ? name : nil
            if column.isThere(in: release) { hints.values["t", default: [:]][name] = value }
        }
        return hints
    }
}

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
                    + " column, and would replace its values. Give an expression that converts them. SQLite's own"
                    + " conversion, which keeps values that it can't convert, is values: [\"t\": [\"e\": \"coalesce(e, 0)\"]]."
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

    @Test(arguments: [
        ("(e)", "(e)"), ("e + 0", "e + 0"), ("trim(e) -- as it was", "trim(e)"),
        ("nullif(t.e, id)", "nullif(t.e, id)"),
    ])
    func `a hint that says how values are converted doesn't say what rows without one get`(
        hint: String,
        answer: String
    ) throws {
        let hints = "The hint \"\(hint)\" returns no value for a row that has none."
        let value = "values: [\"t\": [\"e\": \"coalesce(\(answer), 0)\"]]."
        for (column, question) in [
            (", e INTEGER", "becomes NOT NULL. \(hints) Say what rows without a value get: \(value)"),
            (", e TEXT", "becomes NOT NULL. \(hints) Say what rows without a value get: \(value)"),
            ("", "is NOT NULL and has no default. \(hints) Give it a value: \(value)"),
        ] {
            let row = column.isEmpty ? "(1)" : "(1, NULL)"
            let (asked, db) = try plan(column, row, to: "e INTEGER NOT NULL", hint)
            #expect(asked.questions.map { $0.description.hasSuffix(question) } == [true], "\(asked)")
            #expect(try sqlError { try asked.apply(db) }.code == .openQuestions)
            let (plan, other) = try plan(column, row, to: "e INTEGER NOT NULL", "coalesce(\(answer), 0)")
            try plan.apply(other)
            #expect(try other.query("SELECT e FROM t") == [[0]])
        }
    }

    @Test(arguments: ["e", "coalesce(e, 1)", "\"e\"", "t.e"])
    func `a hint for a later release is not used where nothing is asked`(hint: String) throws {
        let (plan, db) = try plan("", "(1)", to: "e INTEGER DEFAULT 4", hint)
        #expect(plan.steps.map(\.description) == ["add the column e to the table t"])
        try plan.apply(db)
        #expect(try db.query("SELECT e FROM t") == [[4]])
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

    @Test(arguments: 0..<Thoroughness.ordinarily(16, everything: 80) as Range<UInt64>)
    func `a database that skips releases becomes what one becomes that took each`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var history = History(&random)
        for release in 1...4 { try history.answer(in: release, &random) }
        for first in 0..<4 {
            let steps = try history.database(of: first)
            for release in (first + 1)...4 {
                let direct = try history.database(of: first)
                for db in [steps, direct] {
                    let (target, hints) = (history.sql(in: release), history.released[release - 1])
                    try SchemaPlan(from: db, to: target, hints: hints).apply(db)
                }
                try history.compare(steps, direct, first, release)
            }
        }
    }
}

/// The life of a table or a column in releases 0 to 4: from which on it is there, has another name or type, is NOT NULL, and is gone.
private struct Life {
    let number, from, renamed, changed, tightened, until: Int
    let isText, hasDefault: Bool

    init(_ number: Int, _ random: inout SeededGenerator) {
        self.number = number
        let begin = number == 0 || random.hits(oneIn: 2) ? 0 : Int.random(in: 1...3, using: &random)
        let dates = (0..<4).map { begin + Int.random(in: $0 == 2 ? 0...6 : 1...6, using: &random) }
        (from, renamed, changed) = (begin, dates[0], dates[1])
        (tightened, until) = number == 0 ? (0, 9) : (dates[2], dates[3])
        (isText, hasDefault) = (random.hits(oneIn: 2), random.hits(oneIn: 3))
    }

    func isThere(in release: Int) -> Bool { from <= release && release < until }
    func isText(in release: Int) -> Bool { isText != (changed <= release) }
    func table(in release: Int) -> String { (renamed <= release ? "u" : "t") + "\(number)" }
    func column(in release: Int) -> String { (renamed <= release ? "r" : "c") + "\(number)" }
}

/// Two tables over five releases, and what their developer has answered, each answer kept as it was written until a plan asks again.
private struct History {
    let tables: [(life: Life, columns: [Life])]
    /// By the numbers of table and column; `%` is the column's name, `$` that of its table's first one, `#` the first table's.
    private var answers = [[Int]: String]()
    /// The hints of releases 1 to 4.
    private(set) var released = [SchemaPlan.Hints]()

    init(_ random: inout SeededGenerator) {
        tables = (0..<2).map { number in
            (Life(number, &random), (0..<3).map { Life($0, &random) })
        }
    }

    func sql(in release: Int) -> String {
        tables.filter { $0.life.isThere(in: release) }.map { life, columns in
            let texts = columns.filter { $0.isThere(in: release) }.map {
                ", \($0.column(in: release)) \($0.isText(in: release) ? "TEXT" : "INTEGER")"
                    + ($0.tightened <= release ? " NOT NULL" : "") + ($0.hasDefault ? " DEFAULT 7" : "")
            }
            return "CREATE TABLE \(life.table(in: release))(id INTEGER PRIMARY KEY\(texts.joined()));"
        }.joined()
    }

    private func hints(in release: Int) -> SchemaPlan.Hints {
        var hints = SchemaPlan.Hints()
        for (life, columns) in tables {
            let table = life.table(in: Swift.min(release, life.until - 1))
            if table.hasPrefix("u") { hints.renamedTables["t\(life.number)"] = table }
            if life.until <= release { hints.droppedTables.insert(table) }
            for column in columns where life.isThere(in: release) && column.from <= release {
                let name = column.column(in: Swift.min(release, column.until - 1))
                if name.hasPrefix("r") {
                    hints.renamedColumns[table, default: [:]]["c\(column.number)"] = name
                }
                if column.until <= release { hints.droppedColumns[table, default: []].insert(name) }
                guard let answer = answers[[life.number, column.number]] else { continue }
                hints.values[table, default: [:]][name] = answer.replacing("%", with: name)
                    .replacing("$", with: columns[0].column(in: release))
                    .replacing("#", with: tables[0].life.table(in: release))
            }
        }
        return hints
    }

    /// Makes a plan from each released schema, as the developer's test does, and writes the hints that it asks for.
    mutating func answer(in release: Int, _ random: inout SeededGenerator) throws {
        for round in 0..<3 {
            for first in 0..<release {
                let db = try SQLTestSupport.database(sql(in: first))
                let plan = try SchemaPlan(from: db, to: sql(in: release), hints: hints(in: release))
                if round == 2 { #expect(plan.questions == [], "\(sql(in: first)) to \(sql(in: release))") }
                for question in plan.questions { answer(question, in: release, &random) }
            }
        }
        released.append(hints(in: release))
    }

    private mutating func answer(
        _ question: SchemaPlan.Question,
        in release: Int,
        _ random: inout SeededGenerator
    ) {
        for (life, columns) in tables where life.table(in: release) == question.table {
            for column in columns where column.column(in: release) == question.column {
                let key = [life.number, column.number]
                var fills = ["7", "coalesce(%, 7)"]
                // Rows that came before the column was NOT NULL have its default.
                if !column.hasDefault {
                    fills += ["$ + 1", life.number == 1 ? "(SELECT max(id) FROM #)" : "7"]
                }
                switch (answers[key], question.kind) {
                case (let answer?, .convertedValues) where !answer.contains("%"):
                    answers[key] = "coalesce(%, \(answer))"
                case (nil, .convertedValues):
                    // The name alone would let a later release fail for a row without a value.
                    let own = column.tightened > 4 ? ["%"] : []
                    answers[key] = random.element(of: own + ["(%)", "trim(%)"])
                case (let answer?, .emptyValues) where answer.contains("%") && !answer.contains("coalesce"),
                    (let answer?, .missingValue) where answer.contains("%") && !answer.contains("coalesce"):
                    answers[key] = "coalesce(\(answer), 7)"
                case (nil, _): answers[key] = random.element(of: fills)
                default: break
                }
            }
        }
    }

    /// A user's database: its second row lacks what it may lack.
    func database(of release: Int) throws -> SQLiteConnection {
        let db = try SQLTestSupport.database(sql(in: release))
        for (life, columns) in tables where life.isThere(in: release) {
            for id in 1...3 {
                let values = columns.filter { $0.isThere(in: release) }.map {
                    id == 2 && release < $0.tightened ? "NULL" : "\(id)"
                }
                let row = (["\(id)"] + values).joined(separator: ", ")
                try db.query("INSERT INTO \(life.table(in: release)) VALUES (\(row))")
            }
        }
        return db
    }

    func compare(_ steps: SQLiteConnection, _ direct: SQLiteConnection, _ first: Int, _ release: Int) throws {
        for (life, columns) in tables where life.isThere(in: release) {
            let table = life.table(in: release)
            let rows = try [steps, direct].map { try $0.query("SELECT * FROM \(table) ORDER BY id") }
            let words = Comment("\(sql(in: first)) to \(sql(in: release)), \(released[release - 1])")
            #expect(rows[0] == rows[1], words)
            for column in columns where life.isThere(in: first) && column.isThere(in: first) {
                guard column.isThere(in: release) else { continue }
                let name = column.column(in: release)
                let kept = try direct.query("SELECT CAST(\(name) AS TEXT) FROM \(table) WHERE id <> 2")
                #expect(kept == [["1"], ["3"]], words)
            }
        }
    }
}

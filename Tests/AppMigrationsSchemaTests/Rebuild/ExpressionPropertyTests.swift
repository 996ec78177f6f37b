import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// A random expression over tables whose columns have the names of keywords.
private struct RandomExpression {
    static let columns = ["end", "order", "rows", "desc", "is", "null", "like", "plain", "Two words"]

    let text: String

    init(_ random: inout SeededGenerator) { text = Self.make(3, &random) }

    private static func column(_ random: inout SeededGenerator) -> String {
        let name = SQLName(random.element(of: columns))
        return random.element(of: [name.quoted, name.inBackticks, name.quotedIfNeeded])
    }

    private static func make(_ depth: Int, _ random: inout SeededGenerator) -> String {
        func part() -> String { make(depth - 1, &random) }
        func name() -> String { column(&random) }
        switch Int.random(in: 0..<(depth > 0 ? 16 : 4), using: &random) {
        case 0:
            return random.element(of: ["1", "'end'", "NULL", "CURRENT_DATE IS NULL", "x'6f72646572'", "2.5"])
        case 1: return "t.\(name())"
        case 2, 3: return name()
        case 4: return "CASE WHEN \(part()) IS NULL THEN \(part()) ELSE \(part()) END"
        case 5: return "coalesce(\(part()), \(part()))"
        case 6: return "(\(part()) || \(part()))"
        case 7: return "(SELECT count(*) FROM t AS o WHERE o.\(name()) IS t.\(name()))"
        case 8: return "(SELECT count(*) FROM t)"
        case 9: return "(SELECT max(\(name())) FROM other)"
        case 10: return "(SELECT \(part()) FROM seen ORDER BY 1 DESC LIMIT 1)"
        case 11: return "(\(part()) IN (SELECT \(name()) FROM t))"
        case 12: return "(row_number() OVER (PARTITION BY \(name()) ORDER BY id DESC ROWS CURRENT ROW))"
        case 13: return "CAST(\(part()) AS text) -- end\n"
        case 14: return "(\(part()) LIKE \(part()))"
        default: return "EXISTS (SELECT 1 FROM seen WHERE total > t.\(name()))"
        }
    }
}

@Suite struct ExpressionPropertyTests {
    private func made(_ random: inout SeededGenerator) throws -> SQLiteConnection {
        let columns = RandomExpression.columns.map { SQLName($0).quoted }.joined(separator: ", ")
        let db = try database(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, \(columns)); CREATE TABLE other(\(columns), own);
            CREATE VIEW seen AS SELECT "order" AS first, total(plain) AS total, "rows" FROM t GROUP BY "end";
            """
        )
        for table in ["t(\(columns))", "other(\(columns))"] {
            for _ in 0..<5 {
                let values = RandomExpression.columns.map { _ in
                    random.element(of: [.null, 1, 2, "a", "1"] as [SQLValue])
                }
                let parameters = values.map { _ in "?" }.joined(separator: ", ")
                try db.query("INSERT INTO \(table) VALUES (\(parameters))", values)
            }
        }
        return db
    }

    @Test(arguments: 0..<150 as Range<UInt64>)
    func
        `a random expression has the value that it had, and reads the columns without which it does not compile`(
            seed: UInt64
        ) throws
    {
        var random = SeededGenerator(seed: seed)
        let db = try made(&random)
        let expression = RandomExpression(&random).text
        let wanted = try db.query("SELECT id, (\(expression)\n) FROM t ORDER BY id")

        let objects = try SchemaObject.all(of: db)
        let shape = try TableShape(of: objects[0].statement(), in: "main", on: db)
        let shadowTables = try ShadowTables(among: objects, of: db)
        let probe = try ExpressionProbe(
            of: shape,
            named: SQLName("t"),
            in: objects,
            without: shadowTables,
            preparing: .none
        )
        guard case .reads(let reads) = try probe.analyze(expression, on: db) else {
            Issue.record("SQLite does not compile \(expression)")
            return
        }
        let names = SQLTokens(expression).inBackticks
        for column in RandomExpression.columns {
            let others =
                ["id"] + RandomExpression.columns.filter { $0 != column }.map { SQLName($0).inBackticks }
            let row = "(SELECT \(others.joined(separator: ", ")) FROM t) AS t"
            let isNeeded = try db.complaint(about: "SELECT (\(names)\n) FROM \(row)") != nil
            #expect(reads.columns.contains(SQLName(column)) == isNeeded, "\(column) in \(expression)")
        }

        let rest = RandomExpression.columns.filter { !reads.columns.contains(SQLName($0)) }
        try TableRebuild(
            "t",
            as: "CREATE TABLE t(id INTEGER PRIMARY KEY, value)",
            values: ["value": expression],
            dropping: rest + ["seen"]
        ).run(db)
        #expect(try db.query("SELECT id, value FROM t ORDER BY id") == wanted, "\(expression)")
    }
}

import AppMigrationsSQLite

/// A schema made by chance, which SQLite takes.
struct RandomSchema {
    struct Column {
        var name: String
        var type: String
        var isNotNull = false
        var isUnique = false
        var isGenerated = false
        var rest = ""

        var sql: String {
            let name = name.contains(" ") ? "\"\(name)\"" : name
            return "\(name) \(type)\(isNotNull ? " NOT NULL" : "")\(isUnique ? " UNIQUE" : "")\(rest)"
        }
    }

    struct Table {
        var name: String
        var key = "id INTEGER PRIMARY KEY"
        var columns: [Column]
        var options = ""
        var constraint = ""

        var sql: String {
            "CREATE TABLE \(name)(\(([key] + columns.map(\.sql)).joined(separator: ", "))\(constraint))\(options)"
        }
    }

    var tables: [Table]
    var others: [String] = []

    var sql: String { (tables.map(\.sql) + others).map { $0 + ";\n" }.joined() }

    static func random(_ random: inout SeededGenerator) -> RandomSchema {
        let names = ["notes", "tags", "Links", "t_AppUser"].filter { _ in !random.hits(oneIn: 3) }
        var schema = RandomSchema(tables: names.map { table(named: $0, &random) })
        schema.addOthers(&random)
        return schema
    }

    /// A later release of a schema: some of its tables as they are, some changed a little, some others.
    func changed(_ random: inout SeededGenerator) -> RandomSchema {
        var result = RandomSchema(tables: [])
        for table in tables where !random.hits(oneIn: 6) {
            var table = table
            if random.hits(oneIn: 2) {
                table.columns.removeAll { _ in random.hits(oneIn: 5) }
                if !table.columns.contains(where: { $0.name == "c0" }) {
                    table.columns.removeAll(where: \.isGenerated)
                }
                if !table.columns.contains(where: { $0.name == "Name" }) {
                    for index in table.columns.indices where table.columns[index].rest.contains("Name") {
                        table.columns[index].rest = ""
                    }
                }
                let names = Set(table.columns.map(\.name))
                for name in Self.columnNames where !names.contains(name) && random.hits(oneIn: 4) {
                    table.columns.append(
                        Self.column(named: name, &random, isStrict: table.options == " STRICT")
                    )
                }
            }
            if random.hits(oneIn: 8) { table.columns.shuffle(using: &random) }
            result.tables.append(table)
        }
        result.addOthers(&random)
        return result
    }

    private static let columnNames = ["c0", "c1", "c2", "Name", "two words", "é"]

    private static func table(named name: String, _ random: inout SeededGenerator) -> Table {
        let options = random.element(of: ["", "", "", " STRICT", " WITHOUT ROWID"])
        var table = Table(name: name, columns: [], options: options)
        if options == " WITHOUT ROWID" { table.key = "id INTEGER NOT NULL PRIMARY KEY" }
        if options.isEmpty, random.hits(oneIn: 3) { table.key += " AUTOINCREMENT" }
        for name in columnNames where !random.hits(oneIn: 3) {
            table.columns.append(column(named: name, &random, isStrict: options == " STRICT"))
        }
        if table.columns.contains(where: { $0.name == "c0" }), random.hits(oneIn: 4) {
            table.columns.append(
                Column(
                    name: "g",
                    type: "TEXT",
                    isGenerated: true,
                    rest: " AS (c0 || '!')\(random.hits(oneIn: 2) ? " STORED" : "")"
                )
            )
        }
        if random.hits(oneIn: 5) { table.constraint = ", CHECK (\(name).id > 0)" }
        if random.hits(oneIn: 5) { table.constraint += ", CHECK (id <> -1)" }
        return table
    }

    private static func column(
        named name: String,
        _ random: inout SeededGenerator,
        isStrict: Bool
    ) -> Column {
        let types =
            isStrict
            ? ["INTEGER", "TEXT", "REAL", "BLOB"] : ["INTEGER", "TEXT", "REAL", "BLOB", "varchar(20)", "INT"]
        var column = Column(name: name, type: random.element(of: types))
        column.isNotNull = random.hits(oneIn: 3)
        column.isUnique = random.hits(oneIn: 5)
        if !column.isUnique, random.hits(oneIn: 3) {
            column.rest = column.type == "BLOB" ? " DEFAULT x'37'" : " DEFAULT 7"
        }
        if column.type == "TEXT" {
            column.rest += random.element(of: ["", "", " COLLATE NOCASE", " CHECK (Name <> '(')"])
        }
        if column.rest.contains("Name"), name != "Name" { column.rest = "" }
        return column
    }

    private mutating func addOthers(_ random: inout SeededGenerator) {
        for table in tables {
            let columns = table.columns.filter { !$0.isGenerated }
            if let column = columns.first, random.hits(oneIn: 2) {
                others.append(
                    "CREATE INDEX \"i \(table.name)\" ON \(table.name)(\"\(column.name)\", id DESC)"
                )
            }
            if let column = columns.last, random.hits(oneIn: 3) {
                others.append(
                    "CREATE INDEX p_\(table.name) ON \(table.name)(id) WHERE \"\(column.name)\" IS NOT NULL"
                )
                others.append(
                    "CREATE VIEW v_\(table.name) AS SELECT id, \"\(column.name)\" AS x FROM \(table.name)"
                )
            }
            if random.hits(oneIn: 3) {
                others.append(
                    "CREATE TRIGGER r_\(table.name) AFTER INSERT ON \(table.name) BEGIN SELECT new.id; END"
                )
            }
        }
    }
}

extension RandomSchema.Table {
    /// Rows in which every value comes once, in whatever type.
    func insert(_ count: Int, into db: SQLiteConnection, _ random: inout SeededGenerator) throws {
        let filled = columns.filter { !$0.isGenerated }
        let names = (["id"] + filled.map { "\"\($0.name)\"" }).joined(separator: ", ")
        for row in 0..<count {
            let id = Int64(row * 3 + 1)
            var values: [SQLValue] = [.integer(id)]
            for column in filled {
                if !column.isNotNull, random.hits(oneIn: 4) {
                    values.append(.null)
                    continue
                }
                switch column.type {
                case "INTEGER", "INT": values.append(.integer(id))
                case "REAL": values.append(.real(Double(id) + 0.5))
                case "BLOB": values.append(.blob(Array("\(id)".utf8)))
                default: values.append(.text("\(id)"))
                }
            }
            let parameters = values.map { _ in "?" }.joined(separator: ", ")
            try db.query("INSERT INTO \(name)(\(names)) VALUES (\(parameters))", values)
        }
    }
}

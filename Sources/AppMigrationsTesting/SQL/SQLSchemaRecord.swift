import AppMigrationsSQL

/// The schema of a release as a script: what it had in an empty database, its ledger included.
struct SQLSchemaRecord {
    let script: String

    init(file: String) throws {
        guard let text = try FolderFiles.textIfThere(file) else {
            throw RehearsalFinding(
                .notRehearsed,
                "There is no recorded schema \(file). Record it, or put it back."
            )
        }
        script = text
    }

    /// Writes down a database: the schema, and the rows that the migrations made.
    init(of db: some SQLConnection, release: String, ledger: String) throws {
        var script = """
            -- The schema of \(release), as its migrations made it in an empty database. Don't edit what stands here.
            -- Rows may follow at the end, for the migrations to come.

            """
        let schema = try SQLSchema(of: db)
        // A semicolon behind a comment would be part of it.
        for object in schema.objects { script += object.sql + (object.sql.contains("--") ? "\n;\n" : ";\n") }
        // A virtual table may only show the rows of another one.
        for table in schema.objects where table.kind == "table" && !table.isVirtual {
            // The time at which a migration was applied would make each record another one.
            let left = table.name == SQLName(ledger) ? "applied_at" : ""
            let columns = try db.query(
                "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0 AND name <> ? ORDER BY cid",
                [.text(table.name.text), .text(left)]
            ).map { SQLName(try $0[0].value(as: String.self)).quoted }.joined(separator: ", ")
            for row in try db.query("SELECT \(columns) FROM main.\(table.name.quoted)") {
                let values = row.map(Self.literal).joined(separator: ", ")
                script += "INSERT INTO \(table.name.quoted) (\(columns)) VALUES (\(values));\n"
            }
        }
        self.script = script
    }

    /// Makes the recorded database of an empty one.
    func make(in db: some SQLConnection) throws {
        // Rows stand in the order of their tables, and not in that of the references between them.
        let hasForeignKeys = try db.query("PRAGMA foreign_keys") == [[1]]
        if hasForeignKeys { try db.query("PRAGMA foreign_keys = OFF") }
        try db.execute(script: script)
        if hasForeignKeys { try db.query("PRAGMA foreign_keys = ON") }
    }

    /// A value as a script can have it.
    private static func literal(_ value: SQLValue) -> String {
        switch value {
        case .real(let number) where number.isInfinite: return number < 0 ? "-9e999" : "9e999"
        case .text(let text) where text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\r") }:
            // A script is cut at a zero byte, and a checkout may change line ends.
            return "CAST(\(SQLValue.blob(Array(text.utf8))) AS TEXT)"
        default: return "\(value)"
        }
    }
}

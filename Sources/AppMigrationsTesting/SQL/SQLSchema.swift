import AppMigrationsSQL

/// The schema of an SQLite database, through the connection of any library.
struct SQLSchema {
    /// A difference from the schema of a new database.
    struct Difference {
        /// The end of a sentence that begins with "From 2.1: ".
        let text: String
        /// The table of an object that exists only in the upgraded database; otherwise `nil`.
        let extraTable: SQLName?
    }

    /// The objects in the order in which they were created, so that each can be created again.
    let objects: [SchemaObject]
    /// The tables in which other migration tools, such as Alembic, keep their records.
    let ledgersOfOtherTools: Set<SQLName>

    /// Reads everything that has a `CREATE` statement, without the tables in which virtual tables keep their
    /// rows.
    init(of db: some SQLConnection) throws {
        let all = try SchemaObject.all(of: db)
        let shadowTables = try ShadowTables(among: all, attachingTo: db)
        objects = all.filter { $0.sql != nil && !$0.name.isInternal && !shadowTables.contains($0) }
        ledgersOfOtherTools = try LedgerTable.ledgersOfOtherTools(among: all, in: db)
    }

    /// The differences from the schema of a new database.
    ///
    /// The tables `ignored` and the ledgers of other tools, their indexes and their triggers aren't compared.
    func differences(from new: SQLSchema, ignoring ignored: [SQLName]) -> [Difference] {
        let ignored = ledgersOfOtherTools.union(new.ledgersOfOtherTools).union(ignored)
        var differences = [Difference]()
        func add(_ text: String, of table: SQLName? = nil) {
            differences.append(Difference(text: text, extraTable: table))
        }
        for expected in new.objects where !ignored.contains(expected.table) {
            let found = objects.first { $0.kind == expected.kind && $0.name == expected.name }
            guard let found else {
                add("there is no \(expected.title), which a new database has")
                continue
            }
            let words = found.words
            let expectedWords = expected.words
            if words.elementsEqual(expectedWords, by: { $0.isSame(as: $1) }) { continue }
            let same = zip(words, expectedWords).prefix { $0.isSame(as: $1) }.count
            add(
                "the \(expected.title) is \(SchemaObject.shown(words, from: same)), but in a new database it is "
                    + SchemaObject.shown(expectedWords, from: same)
            )
        }
        for found in objects where !ignored.contains(found.table) {
            if new.objects.contains(where: { $0.kind == found.kind && $0.name == found.name }) { continue }
            add("the database has the \(found.title), which a new database doesn't have", of: found.table)
        }
        return differences
    }
}

extension SchemaObject {
    var title: String { "\(kind) \(name)" }

    /// The `CREATE` statement for a script, with a semicolon and a line end; empty if there is none.
    fileprivate var statement: String { sql.map(Self.statement) ?? "" }

    /// A `CREATE` statement for a script, with a semicolon and a line end.
    fileprivate static func statement(_ sql: String) -> String {
        // A semicolon after a comment would be part of the comment.
        return sql + (sql.contains("--") ? "\n;\n" : ";\n")
    }

    /// A word of a `CREATE` text, without its quotes.
    struct Word {
        let text: String
        let isLiteral: Bool

        func isSame(as other: Word) -> Bool {
            isLiteral == other.isLiteral
                && (isLiteral
                    ? text.utf8.elementsEqual(other.text.utf8) : SQLName(text) == SQLName(other.text))
        }
    }

    /// The words of the statement, without blanks and comments.
    ///
    /// Names lose their quotes, because `ALTER TABLE` adds quotes.
    var words: [Word] {
        let tokens = SQLTokens(sql ?? "")
        return tokens.tokens.indices.map { index in
            let isLiteral = tokens.tokens[index].kind == .text
            let text = tokens.text(index)
            return Word(text: isLiteral ? text : tokens.name(index)?.text ?? text, isLiteral: isLiteral)
        }
    }

    /// A few words of a statement, from shortly before the place at which it begins to differ.
    static func shown(_ words: [Word], from place: Int) -> String {
        let start = max(0, place - 2)
        let rest = words[start...]
        let text = rest.prefix(12).map(\.text).joined(separator: " ")
        return (start > 0 ? "…" : "") + text + (rest.count > 12 ? "…" : "")
    }
}

/// The schema and the ledger of a release, as a script that creates both in an empty database.
struct SQLSchemaRecord {
    let script: String

    init(file: String) throws {
        guard let text = try FolderFiles.textIfPresent(file) else {
            let problem = "There is no recorded schema \(file). Record it, or restore the file."
            throw RehearsalFinding(.notRehearsed, problem)
        }
        script = text
    }

    /// Records the schema of a database, and the rows that the migrations inserted.
    init(of db: some SQLConnection, release: String, ledger: String) throws {
        var script = """
            -- The schema of \(release), created by its migrations in an empty database. Don't edit these statements.
            -- You may add rows at the end, for later migrations to work on.

            """
        let schema = try SQLSchema(of: db)
        // The recorded rows include the rows that triggers inserted. If a trigger wrote to these tables
        // again, the rows would be inserted twice. So triggers are created after the rows.
        //
        // But rows of virtual tables aren't recorded, because some virtual tables show the rows of another
        // table. So a trigger that fills a virtual table, such as a full-text index, runs on the recorded
        // rows, also if it fills the table through a view. If it has statements that write to other tables, a
        // form without them runs instead, and is then replaced.
        let destinations = FillingTrigger.destinations(among: schema.objects)
        var fillingTriggers = [SQLName: FillingTrigger]()
        var tablesFilledLast = Set<SQLName>()
        var tablesWithTriggers = Set<SQLName>()
        var hasPartOfViewTrigger = false
        for object in schema.objects {
            if object.kind != .trigger {
                script += object.statement
            } else if let trigger = FillingTrigger(object, filling: destinations) {
                script += SchemaObject.statement(trigger.sql)
                fillingTriggers[object.name] = trigger
                // The trigger may read the rows that its other statements wrote. So they are inserted first.
                if !trigger.isComplete { tablesFilledLast.insert(object.table) }
                tablesWithTriggers.insert(object.table)
                let isOfView = schema.objects.contains { $0.kind == .view && $0.name == object.table }
                hasPartOfViewTrigger = hasPartOfViewTrigger || isOfView && !trigger.isComplete
            }
        }
        // The trigger of a view may read such rows for any of the tables whose triggers write to the view.
        if hasPartOfViewTrigger { tablesFilledLast.formUnion(tablesWithTriggers) }
        let tables = schema.objects.filter { $0.kind == .table && !$0.isVirtual }
        let first = tables.filter { !tablesFilledLast.contains($0.name) }
        let last = tables.filter { tablesFilledLast.contains($0.name) }
        for table in first + last {
            // The time at which a migration was applied would differ in each record.
            let omittedColumn = table.name == SQLName(ledger) ? "applied_at" : ""
            let columns = try db.query(
                "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0 AND name <> ? ORDER BY cid",
                [.text(table.name.text), .text(omittedColumn)]
            ).map { SQLName(try $0[0].value(as: String.self)).quoted }.joined(separator: ", ")
            for row in try db.query("SELECT \(columns) FROM main.\(table.name.quoted)") {
                let values = row.map(Self.literal).joined(separator: ", ")
                script += "INSERT INTO \(table.name.quoted) (\(columns)) VALUES (\(values));\n"
            }
        }
        for object in schema.objects where object.kind == .trigger {
            if let trigger = fillingTriggers[object.name] {
                if trigger.isComplete { continue }
                script += "DROP TRIGGER \(object.name.quoted);\n"
            }
            script += object.statement
        }
        self.script = script
    }

    /// Runs the script in an empty database.
    func run(in db: some SQLConnection) throws {
        // The rows are inserted table by table. So a row may be inserted before the row that it refers to,
        // and foreign keys are off during that time.
        let hasForeignKeys = try db.query("PRAGMA foreign_keys") == [[1]]
        if hasForeignKeys { try db.query("PRAGMA foreign_keys = OFF") }
        try db.execute(script: script)
        if hasForeignKeys { try db.query("PRAGMA foreign_keys = ON") }
    }

    /// A value as a literal in a script.
    private static func literal(_ value: SQLValue) -> String {
        switch value {
        case .real(let number) where number.isInfinite: return number < 0 ? "-9e999" : "9e999"
        case .text(let text) where text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\r") }:
            // A script ends at a zero byte, and a checkout may change line ends.
            return "CAST(\(SQLValue.blob(Array(text.utf8))) AS TEXT)"
        default: return "\(value)"
        }
    }
}

/// What a database holds, for a comparison.
struct SQLiteContents {
    /// A row as texts that are equal when the values are, type and all.
    typealias Row = [String]

    private let db: SQLiteConnection

    init(ofFile path: String) throws(SQLError) {
        // Only this one refuses to make a database where there is none; only the other one reads what a journal holds.
        try SQLiteConnection(path: path, readOnly: true).close()
        db = try SQLiteConnection(path: path)
    }

    var userVersion: Int64 { get throws(SQLError) { try db.userVersion } }

    /// The `CREATE` texts, normalized, by kind and name, `table notes`; those that SQLite makes itself have none.
    var objects: [String: String] {
        get throws(SQLError) {
            var objects: [String: String] = [:]
            let shadows = try self.shadows
            for row in try db.query(
                "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            ) {
                guard case .text(let type) = row[0], case .text(let name) = row[1],
                    case .text(let sql) = row[2]
                else {
                    continue
                }
                if !shadows.contains(name) { objects["\(type) \(name)"] = Self.normalized(sql) }
            }
            return objects
        }
    }

    /// The names of the tables whose rows count.
    var tables: [String] {
        get throws(SQLError) {
            try objects.keys.filter { $0.hasPrefix("table ") }.map { String($0.dropFirst("table ".count)) }
        }
    }

    /// "Shadow tables" hold the data of a virtual table, in a layout that depends on how it came there.
    ///
    /// SQLite before 3.37 has no such pragma, and gives no row.
    private var shadows: Set<String> {
        get throws(SQLError) {
            let rows = try db.query("PRAGMA main.table_list").filter { $0.count > 2 && $0[2] == "shadow" }
            return Set(rows.compactMap { if case .text(let name) = $0[1] { name } else { nil } })
        }
    }

    func columns(of table: String) throws(SQLError) -> [String] {
        try names("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", [.text(table)])
    }

    private func names(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> [String] {
        try db.query(sql, arguments).compactMap { row in
            if case .text(let name) = row.first { name } else { nil }
        }
    }

    /// All rows, sorted.
    func rows(of table: String, _ columns: [String]) throws(SQLError) -> [Row] {
        let list = columns.map(Self.quoted).joined(separator: ", ")
        return try db.query("SELECT \(list) FROM main.\(Self.quoted(table))")
            .map { $0.map(Self.text) }
            .sorted(by: Self.precedes)
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
    }

    private static func text(_ value: SQLValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text):
            "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
        case .blob(let bytes): "a blob of \(bytes.count) bytes, \(hexadecimal(bytes))"
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        var text = ""
        for byte in bytes {
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
        return text
    }

    // By bytes: equal strings of Swift may differ in their accents.
    private static func precedes(_ first: Row, _ second: Row) -> Bool {
        for (one, other) in zip(first, second) where !one.utf8.elementsEqual(other.utf8) {
            return one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return false
    }

    /// The first of the sorted rows that is in `others` fewer times.
    static func first(of rows: [Row], notIn others: [Row]) -> Row? {
        var index = others.startIndex
        for row in rows {
            while index < others.endIndex, precedes(others[index], row) { index += 1 }
            guard index < others.endIndex, !precedes(row, others[index]) else { return row }
            index += 1
        }
        return nil
    }
}

internal import AppMigrationsSQLite

/// The columns of a table, and the key of its rows.
struct TableShape {
    struct Column {
        let name: SQLName
        let type: String
        let isNotNull: Bool
        let hasDefault: Bool
        let isInPrimaryKey: Bool
        let isGenerated: Bool
    }

    let name: SQLName
    let columns: [Column]
    let isWithoutRowID: Bool
    let isStrict: Bool
    let hasAutoincrement: Bool
    /// The column that is an alias of the rowid ("ROWIDs and the INTEGER PRIMARY KEY").
    let rowIDAlias: SQLName?

    /// Reads a table of a schema, which `statement` created.
    init(of statement: CreateStatement, in schema: String, on db: some SQLConnection) throws(SQLError) {
        name = statement.name
        let list = try db.rows("PRAGMA \(schema).table_list(\(name.quoted))")
        guard let row = list.first else {
            throw SQLError(.statementFailed, "PRAGMA table_list(\(name)) returned no row")
        }
        isWithoutRowID = row[4].number == 1
        isStrict = row[5].number == 1
        hasAutoincrement = statement.hasAutoincrement
        // In `hidden`, 2 means a virtual and 3 a stored generated column ("PRAGMA table_xinfo").
        let sql = """
            SELECT name, type, "notnull" <> 0, coalesce(dflt_value <> 'NULL' COLLATE NOCASE, 0), pk <> 0, hidden IN (2, 3)
            FROM pragma_table_xinfo(?, ?)
            """
        columns = try db.rows(sql, [.text(name.text), .text(schema)]).map { row throws(SQLError) in
            Column(
                name: SQLName(try row.text(0)),
                type: try row.text(1),
                isNotNull: row[2].number == 1,
                hasDefault: row[3].number == 1,
                isInPrimaryKey: row[4].number == 1,
                isGenerated: row[5].number == 1
            )
        }
        // "INTEGER PRIMARY KEY DESC" is no alias, because of a bug in early versions. SQLite gives such a key
        // an index.
        let key = columns.filter { $0.isInPrimaryKey }
        let isAlias = key.count == 1 && SQLName(key[0].type) == SQLName("INTEGER") && !isWithoutRowID
        let hasIndex = try db.rows("PRAGMA \(schema).index_list(\(name.quoted))").contains { $0[3] == "pk" }
        rowIDAlias = isAlias && !hasIndex ? key[0].name : nil
    }

    /// A name by which SQL reads and writes the rowid; `nil` if there is no rowid, or if columns hide all
    /// three of its names.
    var rowIDName: String? {
        if isWithoutRowID { return nil }
        if let rowIDAlias { return rowIDAlias.quoted }
        return ["rowid", "_rowid_", "oid"].first { self[SQLName($0)] == nil }
    }

    /// The names of a row's key: the rowid, or the columns of the primary key if the rowid can't be read.
    var keyNames: [String] {
        if let rowIDName { return [rowIDName] }
        return primaryKeyNames
    }

    var primaryKeyNames: [String] { columns.filter(\.isInPrimaryKey).map(\.name.quoted) }

    /// A row's key in words, as in `id 7`, from the names that read it and their values.
    func description(ofKey names: [String], values: [SQLValue]) -> String {
        zip(names, values).map { name, value in
            // Some connections return every value as text, and a rowid is always a number.
            let number = name == rowIDName ? value.number : nil
            return "\(SQLTokens(name).name(0)?.text ?? name) \(number?.description ?? value.description)"
        }.joined(separator: ", ")
    }

    subscript(column: SQLName) -> Column? { columns.first { $0.name == column } }

    var names: Set<SQLName> { Set(columns.map(\.name)) }
}

extension TableShape {
    /// The affinity of a column ("Datatypes In SQLite", section 3.1).
    ///
    /// INTEGER and NUMERIC store the same.
    enum Affinity { case number, real, text, none }

    /// True if `column` of this table can change or refuse the values of `source`, a column of `other`.
    func canChange(_ source: Column, of other: TableShape, into column: Column) -> Bool {
        let before = other.affinity(of: source)
        let after = affinity(of: column)
        // Without an affinity, every value is kept. But a BLOB column of a STRICT table refuses other types.
        let keepsEveryValue = after == .none && !(isStrict && SQLName(column.type) == SQLName("BLOB"))
        // A table that isn't STRICT may hold values of any type, except in its rowid.
        let mayHoldOtherTypes = isStrict && !other.isStrict && source.name != other.rowIDAlias
        return !keepsEveryValue && (before != after || mayHoldOtherTypes)
    }

    func affinity(of column: Column) -> Affinity {
        // Only ASCII capitals count. With the rules of Unicode, "ınt" would be an integer.
        let type = SQLName(column.type)
        // "ANY in STRICT tables preserves exactly what is inserted" (STRICT Tables).
        if isStrict, type == SQLName("ANY") { return .none }
        if type.contains("int") { return .number }
        if type.contains("char") || type.contains("clob") || type.contains("text") { return .text }
        if type.contains("blob") || column.type.isEmpty { return .none }
        if type.contains("real") || type.contains("floa") || type.contains("doub") { return .real }
        return .number
    }

    /// An expression with the value of `source`, or an empty value of the column's type if `source` is NULL.
    ///
    /// `source` is the name of a column of another table, or an expression.
    ///
    /// - Returns: The expression; `nil` for a column of the primary key, because each row needs a value of
    ///   its own there.
    func nonNullExpression(for column: Column, from source: String) -> String? {
        if column.name == rowIDAlias || column.isInPrimaryKey { return nil }
        let value =
            switch affinity(of: column) {
            case .number: "0"
            case .real: "0.0"
            case .text: "''"
            case .none: SQLName(column.type) == SQLName("BLOB") ? "x''" : "''"
            }
        return "coalesce(\(source), \(value))"
    }
}

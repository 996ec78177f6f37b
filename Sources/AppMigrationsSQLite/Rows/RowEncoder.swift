internal import AppMigrationsSQL

/// Encodes Swift values as rows, one after the other.
final class RowEncoder: Encoder {
    /// The columns of the row, in the order in which the type encodes them, which is usually the same for
    /// each row.
    private(set) var names: [String] = []
    private(set) var values: [SQLValue] = []

    private let db: SQLiteConnection
    private let table: String
    private var kinds = ValueKind.Cache()

    /// The columns that are known to store a date as a number.
    private var dateColumns = [String]()

    /// The number of the current row, counted from 1.
    private var row = 0

    /// True if the columns encoded so far are the same as in the previous row.
    private var hasSameColumns = true

    /// The reason why the row can't be inserted, from a function that can't throw.
    private var refusal: SQLError?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(for table: String, in db: SQLiteConnection) {
        self.db = db
        self.table = table
    }

    /// Encodes a row into `names` and `values`.
    ///
    /// - Returns: True if the columns are the same as in the previous row.
    func encode<Row: Encodable>(_ value: Row) throws(SQLError) -> Bool {
        row += 1
        hasSameColumns = true
        values.removeAll(keepingCapacity: true)
        try throwingRefusal(at: nil) { try value.encode(to: self) }
        if values.isEmpty { throw failure("\(Row.self) encodes no column", at: nil) }
        if values.count < names.count { removeUnusedNames() }
        return hasSameColumns
    }

    func set(_ value: SQLValue, for key: String) {
        if values.count == names.count || names[values.count] != key {
            removeUnusedNames()
            names.append(key)
        }
        values.append(value)
    }

    /// Removes the columns of the previous row that have no value in this row.
    private func removeUnusedNames() {
        names.removeLast(names.count - values.count)
        hasSameColumns = false
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RowEncodingContainer(row: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        refuse("the value encodes a list, and a row has columns with names", at: nil)
        return CellEncoder(row: self, key: "", kind: nil)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        refuse("the value has no names for its columns", at: nil)
        return CellEncoder(row: self, key: "", kind: nil)
    }

    func set<Value: BinaryInteger>(integer value: Value, for key: String) throws(SQLError) {
        guard let integer = Int64(exactly: value) else {
            throw failure("\(value) does not fit SQLite's 64-bit integers; encode it as text", at: key)
        }
        set(.integer(integer), for: key)
    }

    func set(real value: Double?, for key: String) throws(SQLError) {
        if value?.isNaN == true { throw failure("SQLite would store NaN as NULL; encode nil", at: key) }
        set(SQLValue(value), for: key)
    }

    /// Sets a date, given in seconds since 2001.
    func set(date value: Double, for key: String) throws(SQLError) {
        if !dateColumns.contains(key) {
            dateColumns.append(key)
            // The rules for a column's affinity: https://sqlite.org/datatype3.html, section 3.1.
            let sql = """
                SELECT type FROM pragma_table_xinfo(?) WHERE name = ? COLLATE NOCASE
                AND upper(type) NOT LIKE '%INT%'
                AND (upper(type) LIKE '%CHAR%' OR upper(type) LIKE '%CLOB%' OR upper(type) LIKE '%TEXT%')
                """
            if case .text(let type) = try db.query(sql, [.text(table), .text(key)]).first?.first {
                throw failure(
                    "a Date is stored as a number of seconds, and a column of type \(type) would turn the number into"
                        + " text that can't be read as a Date. Declare the column REAL, or encode the date as text",
                    at: key
                )
            }
        }
        try set(real: value + DateText.from1970To2001, for: key)
    }

    func set<Value: Encodable>(value: Value, for key: String) throws(SQLError) {
        let kind = kinds[Value.self]
        let before = values.count
        switch kind {
        case .bytes: if let bytes = value as? any Collection<UInt8> { set(.blob(Array(bytes)), for: key) }
        default:
            try throwingRefusal(at: key) {
                try value.encode(to: CellEncoder(row: self, key: key, kind: kind))
            }
        }
        if values.count == before { throw failure("\(Value.self) encodes no value", at: key) }
    }

    /// Runs the encoding of a type, and throws the refusal if one was recorded.
    private func throwingRefusal(at key: String?, _ body: () throws -> Void) throws(SQLError) {
        do { try body() } catch {
            throw refusal ?? error as? SQLError ?? failure(Self.message(of: error), at: key, cause: error)
        }
        if let refusal { throw refusal }
    }

    /// Records why the row is refused, unless it was already refused.
    func refuse(_ message: String, at key: String?) {
        if refusal == nil { refusal = failure(message, at: key) }
    }

    func failure(_ message: String, at key: String?, cause: (any Error)? = nil) -> SQLError {
        let column = key.map { ", column \($0)" } ?? ""
        return SQLError(.unwritableRow, "Row \(row)\(column): \(message)").with { $0.underlyingError = cause }
    }

    /// Adds the number of the row to an error about the row itself.
    func addingRow(to error: SQLError) -> SQLError {
        guard error.code == .statementFailed || error.code == .invalidQuery else { return error }
        return error.with { $0.message = "Row \(row): \(error.message)" }
    }

    private static func message(of error: any Error) -> String {
        if case EncodingError.invalidValue(_, let context) = error { return context.debugDescription }
        return "\(error)"
    }

    /// The `INSERT` for the columns of the row.
    func statement() throws(SQLError) -> String {
        let columns = names.map { SQLName($0) }
        var seen = Set<SQLName>()
        for column in columns where !seen.insert(column).inserted {
            throw failure("the type encodes two values for this column", at: column.text)
        }
        let list = columns.map(\.quoted).joined(separator: ", ")
        let placeholders = repeatElement("?", count: columns.count).joined(separator: ", ")
        // "OR ABORT" overrides the ON CONFLICT clauses of the table, which could skip this row or delete
        // others (https://sqlite.org/lang_conflict.html).
        return "INSERT OR ABORT INTO \(SQLName(table).quoted) (\(list)) VALUES (\(placeholders))"
    }
}

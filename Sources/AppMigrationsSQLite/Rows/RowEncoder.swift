internal import AppMigrationsSQL

/// Takes the columns of rows from values of Swift, one row after the other.
final class RowEncoder: Encoder {
    /// The columns of the row, in the order in which the type encodes them, which is mostly that of the last row.
    private(set) var names: [String] = []
    private(set) var values: [SQLValue] = []

    private let db: SQLiteConnection
    private let table: String
    private var kinds = ValueKind.Known()
    /// The columns that were found to keep a date as the number that it is.
    private var dates = [String]()
    private var row = 0
    /// True if the row has the columns of the row before, as far as it was encoded.
    private var isAlike = true
    /// Why the row can't be inserted, where the call that found out can't throw.
    private var refusal: SQLError?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ db: SQLiteConnection, _ table: String) { (self.db, self.table) = (db, table) }

    /// Encodes a row into `names` and `values`.
    ///
    /// - Returns: True if the columns are the ones of the row before.
    func encode<Row: Encodable>(_ value: Row) throws(SQLError) -> Bool {
        row += 1
        isAlike = true
        values.removeAll(keepingCapacity: true)
        try encode(at: nil) { try value.encode(to: self) }
        if values.isEmpty { throw failure("\(Row.self) encodes no column", at: nil) }
        if values.count < names.count { keepNames() }
        return isAlike
    }

    func set(_ value: SQLValue, for key: String) {
        if values.count == names.count || names[values.count] != key {
            keepNames()
            names.append(key)
        }
        values.append(value)
    }

    /// Lets the row have no more of the columns of the row before than have got values.
    private func keepNames() {
        names.removeLast(names.count - values.count)
        isAlike = false
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RowColumns(row: self))
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
            throw failure("\(value) does not fit SQLite's integers of 64 bits; encode it as a text", at: key)
        }
        set(.integer(integer), for: key)
    }

    func set(real value: Double?, for key: String) throws(SQLError) {
        if value?.isNaN == true { throw failure("SQLite would store NaN as NULL; encode nil", at: key) }
        set(SQLValue(value), for: key)
    }

    /// Sets a date, given in seconds since 2001.
    func set(date value: Double, for key: String) throws(SQLError) {
        if !dates.contains(key) {
            dates.append(key)
            // "Determination Of Column Affinity" ("Datatypes In SQLite", section 3.1).
            let sql = """
                SELECT type FROM pragma_table_xinfo(?) WHERE name = ? COLLATE NOCASE
                AND upper(type) NOT LIKE '%INT%'
                AND (upper(type) LIKE '%CHAR%' OR upper(type) LIKE '%CLOB%' OR upper(type) LIKE '%TEXT%')
                """
            if case .text(let type) = try db.query(sql, [.text(table), .text(key)]).first?.first {
                throw failure(
                    "a Date is a number of seconds, which a column of type \(type) keeps as digits that nothing"
                        + " reads as a Date; declare it REAL, or encode a text",
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
        default: try encode(at: key) { try value.encode(to: CellEncoder(row: self, key: key, kind: kind)) }
        }
        if values.count == before { throw failure("\(Value.self) encodes no value", at: key) }
    }

    /// Runs the code of a type, which may have been refused something without an error.
    private func encode(at key: String?, _ body: () throws -> Void) throws(SQLError) {
        do { try body() } catch {
            throw refusal ?? error as? SQLError ?? failure(Self.words(of: error), at: key, error)
        }
        if let refusal { throw refusal }
    }

    func refuse(_ message: String, at key: String?) {
        if refusal == nil { refusal = failure(message, at: key) }
    }

    func failure(_ message: String, at key: String?, _ cause: (any Error)? = nil) -> SQLError {
        let column = key.map { ", column \($0)" } ?? ""
        return SQLError(.unwritableRow, "Row \(row)\(column): \(message)").with { $0.underlyingError = cause }
    }

    /// An error of SQLite, with the row that it is about where its other facts don't tell.
    func counted(_ error: SQLError) -> SQLError {
        guard error.code == .statementFailed || error.code == .invalidQuery else { return error }
        return error.with { $0.message = "Row \(row): \(error.message)" }
    }

    private static func words(of error: any Error) -> String {
        if case EncodingError.invalidValue(_, let context) = error { return context.debugDescription }
        return "\(error)"
    }

    /// The `INSERT` for the columns of the row.
    func statement() throws(SQLError) -> String {
        let columns = names.map { SQLName($0) }
        var seen = Set<SQLName>()
        for column in columns where !seen.insert(column).inserted {
            throw failure("the value is encoded twice, and a column has one", at: column.text)
        }
        let list = columns.map(\.quoted).joined(separator: ", ")
        let places = repeatElement("?", count: columns.count).joined(separator: ", ")
        // "OR ABORT" stands above the ON CONFLICT clauses of the table, which would leave rows out or take others away
        // ("The ON CONFLICT Clause").
        return "INSERT OR ABORT INTO \(SQLName(table).quoted) (\(list)) VALUES (\(places))"
    }
}

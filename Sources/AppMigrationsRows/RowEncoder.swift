public import AppMigrationsSQLite

/// Takes the columns of rows from values of Swift, one row after the other.
final class RowEncoder: Encoder {
    /// The columns of the row, in the order in which the type encodes them, which is mostly that of the last
    /// row.
    private(set) var names: [String] = []
    private(set) var values: [SQLValue] = []

    private var kinds = ValueKind.Known()
    private var place = 0
    private var row = 0
    /// The type of what is encoded for an argument, which has no row.
    private var argument = ""
    /// Why the row can't be inserted, where the call that found out can't throw.
    private var refusal: SQLError?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Encodes a row into `names` and `values`.
    ///
    /// - Returns: True if the columns are the ones of the row before.
    func encode<Row: Encodable>(_ value: Row) throws(SQLError) -> Bool {
        row += 1
        place = 0
        let count = names.count
        hasOtherColumns = false
        do {
            try value.encode(to: self)
        } catch let error as SQLError {
            throw refusal ?? error
        } catch {
            throw refusal ?? failure(Self.words(of: error), at: nil, error)
        }
        if let refusal { throw refusal }
        if place == 0 { throw failure("\(Row.self) encodes no column", at: nil) }
        if place < count, !hasOtherColumns { cut() }
        return !hasOtherColumns
    }

    /// Encodes one value, as a row has it in a column.
    func cell<Value: Encodable>(_ value: Value) throws(SQLError) -> SQLValue {
        argument = "\(Value.self)"
        try set(value: value, for: "")
        return values.last ?? .null
    }

    private var hasOtherColumns = false

    private func cut() {
        names.removeLast(names.count - place)
        values.removeLast(values.count - place)
        hasOtherColumns = true
    }

    func set(_ value: SQLValue, for key: String) {
        if place < names.count {
            if names[place] == key {
                values[place] = value
                place += 1
                return
            }
            cut()
        }
        hasOtherColumns = true
        names.append(key)
        values.append(value)
        place += 1
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RowColumns(row: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        refuse("the value encodes a list, and a row has columns with names", at: nil)
        return RefusedValues(row: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        refuse("the value has no names for its columns", at: nil)
        return RefusedValues(row: self)
    }

    func set<Value: BinaryInteger>(integer value: Value, for key: String) throws(SQLError) {
        guard let integer = Int64(exactly: value) else {
            throw failure("\(value) does not fit SQLite's integers of 64 bits; encode it as a text", at: key)
        }
        set(.integer(integer), for: key)
    }

    func set(real value: Double, for key: String) throws(SQLError) {
        if value.isNaN { throw failure("SQLite would store NaN as NULL; encode nil", at: key) }
        set(.real(value), for: key)
    }

    func set<Value: Encodable>(value: Value, for key: String) throws(SQLError) {
        let kind = kinds[Value.self]
        let before = place
        switch kind {
        case .bytes: if let bytes = value as? any Collection<UInt8> { set(.blob(Array(bytes)), for: key) }
        default:
            do {
                try value.encode(to: CellEncoder(row: self, key: key, kind: kind))
            } catch let error as SQLError {
                throw refusal ?? error
            } catch {
                throw refusal ?? failure(Self.words(of: error), at: key, error)
            }
        }
        if let refusal { throw refusal }
        if place == before { throw failure("\(Value.self) encodes no value", at: key) }
    }

    func refuse(_ message: String, at key: String?) {
        if refusal == nil { refusal = failure(message, at: key) }
    }

    func failure(_ message: String, at key: String?, _ cause: (any Error)? = nil) -> SQLError {
        let column = key.map { ", column \($0)" } ?? ""
        let subject = row == 0 ? "An argument of the type \(argument)" : "Row \(row)\(column)"
        return SQLError(.unwritableRow, "\(subject): \(message)").with { $0.underlyingError = cause }
    }

    /// An error of SQLite, with the row that it is about.
    func counted(_ error: SQLError) -> SQLError { error.counted("Row \(row)") }

    /// The error of a row whose update would have changed the key of the row that is there.
    func keyFailure() -> SQLError {
        failure(
            "it was not written: the row that is there has another primary key, which an update never changes, or a"
                + " trigger left the row out; give it the key that is there, or nil",
            at: nil
        )
    }

    private static func words(of error: any Error) -> String {
        if case EncodingError.invalidValue(_, let context) = error { return context.debugDescription }
        return "\(error)"
    }
}

extension RowEncoder {
    /// The `INSERT` for the columns of the row.
    func statement(
        _ table: String,
        _ rule: SQLConflictRule,
        key: Set<SQLName>
    ) throws(SQLError) -> String {
        let columns = names.map { SQLName($0) }
        var seen = Set<SQLName>()
        for column in columns where !seen.insert(column).inserted {
            throw failure("the value is encoded twice, and a column has one", at: column.text)
        }
        if case .update(let kept) = rule, let unknown = kept.first(where: { !seen.contains(SQLName($0)) }) {
            throw failure("keepingIfNull names it, and the row has no such column", at: unknown)
        }
        let list = columns.map(\.quoted).joined(separator: ", ")
        let places = repeatElement("?", count: columns.count).joined(separator: ", ")
        // "OR ABORT" stands above the ON CONFLICT clauses of the table, which would leave rows out or take others away
        // ("The ON CONFLICT Clause"); the rule of the call stands above both ("UPSERT").
        return
            "INSERT OR ABORT INTO \(SQLName(table).quoted) (\(list)) VALUES (\(places))\(rule.clause(columns, key: key))"
    }
}

extension SQLValue {
    /// The value as which an insert keeps one of Swift in a column, for the arguments of a statement.
    ///
    /// It is for what has no initializer of its own: a `Date`, a `UUID`, `Data`, an `enum` with raw values, and optionals of
    /// them. <doc:RowsInsideMigrations> has the table of what each is kept as.
    ///
    /// ```swift
    /// try db.query(
    ///     "DELETE FROM note WHERE created < ?",
    ///     [SQLValue(encoding: limit)]
    /// )
    /// ```
    ///
    /// - Throws: `SQLError` with the code `SQLError.Code.unwritableRow` for what no column can hold.
    public init<Value: Encodable>(encoding value: Value) throws(SQLError) {
        self = try RowEncoder().cell(value)
    }
}

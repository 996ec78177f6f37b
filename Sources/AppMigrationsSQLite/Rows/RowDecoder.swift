internal import AppMigrationsSQL

/// Reads the rows of one statement into values of Swift.
final class RowDecoder: Decoder {
    let statement: SQLiteConnection.Statement
    private let rowType: any Any.Type
    let names: [String]
    var kinds = ValueKind.Known()

    /// The keys in the order in which the type asks for them, which is the same for every row.
    private var asked: [(key: String, column: Column)] = []
    private var places: [String: Int] = [:]
    private var place = 0
    private var row = 0
    /// The reader of dates, made for the first one.
    private(set) lazy var dates = Result { () throws(SQLError) in try DateText(statement.connection) }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ rowType: any Any.Type, from statement: SQLiteConnection.Statement) {
        self.rowType = rowType
        self.statement = statement
        names = (0..<statement.columnCount).map(statement.columnName)
    }

    /// Reads the row that the statement went to.
    func decode<Row: Decodable>(_ type: Row.Type) throws(SQLError) -> Row {
        row += 1
        place = 0
        do {
            // Such a type would ask the row for something that only a column has.
            if names.count == 1, kinds[type] != nil { return try value(type, at: 0) }
            return try type.init(from: self)
        } catch { throw error as? SQLError ?? failure("Row \(row): \(Self.words(of: error))", error) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowKeys(row: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw failure("Row \(row): \(rowType) reads values without names, and a row has columns with names")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard names.count == 1 else {
            throw failure("Row \(row): \(rowType) is one value, and the row has \(names.count) columns")
        }
        return CellDecoder(row: self, column: 0, kind: nil)
    }

    /// Where the value for a key is.
    enum Column {
        case at(Int)
        case missing
        case ambiguous
    }

    func column(_ key: String) -> Column {
        if place < asked.count, asked[place].key == key { return asked[place].column }
        if place + 1 < asked.count, asked[place + 1].key == key {
            place += 1
        } else if let known = places[key] {
            place = known
        } else {
            let name = SQLName(key)
            let columns = names.indices.filter { SQLName(names[$0]) == name }
            place = asked.count
            places[key] = place
            asked.append((key, columns.count > 1 ? .ambiguous : columns.first.map { .at($0) } ?? .missing))
        }
        return asked[place].column
    }

    /// The column for a key that a value is needed for.
    func existingColumn(_ key: String) throws(SQLError) -> Int {
        switch column(key) {
        case .at(let column): return column
        case .ambiguous:
            throw failure("Row \(row): several columns are called \(key); rename all but one with AS")
        case .missing:
            let list = names.joined(separator: ", ")
            throw failure("Row \(row): there is no column \(key), which \(rowType) needs, but \(list)")
        }
    }

    /// The error of a column whose value does not fit a type.
    func misfit(_ column: Int, _ type: String, _ cause: (any Error)? = nil) throws(SQLError) -> SQLError {
        let value = try statement.value(at: column)
        let reason = cause.map { ": \(Self.words(of: $0))" } ?? ""
        return failure(
            "Row \(row), column \(names[column]): \(value.shown) does not fit \(type)\(reason)",
            cause
        )
    }

    private func failure(_ message: String, _ cause: (any Error)? = nil) -> SQLError {
        statement.connection.naming(
            SQLError(.unreadableRow, message).with {
                ($0.statement, $0.underlyingError) = (statement.sql, cause)
            }
        )
    }

    private static func words(of error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.keyNotFound(_, let context):
            context.debugDescription
        default: "\(error)"
        }
    }
}

/// The columns of a row, by the keys of a type.
struct RowKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: RowDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.names.compactMap { Key(stringValue: $0) } }

    // A name of several columns is an error when its value is asked for.
    func contains(_ key: Key) -> Bool {
        if case .missing = row.column(key.stringValue) { false } else { true }
    }

    func decodeNil(forKey key: Key) throws -> Bool { row.statement.isNull(at: try column(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try row.plain(at: column(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try row.plain(at: column(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try row.plain(at: column(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try row.float(at: column(key)) }

    // The two that nearly every row has are not left to the generic one, which the compiler does not specialize.
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try row.integer(type, at: column(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try row.integer(type, at: column(key))
    }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try row.integer(type, at: column(key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try row.value(type, at: column(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw try nested(key) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw try nested(key)
    }

    func superDecoder() throws -> any Decoder { row }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw try nested(key) }

    private func nested(_ key: Key) throws(SQLError) -> SQLError {
        try row.misfit(column(key), "a nested container", Misfit.several)
    }

    private func column(_ key: Key) throws(SQLError) -> Int { try row.existingColumn(key.stringValue) }
}

/// The one value of a column.
struct CellDecoder: Decoder, SingleValueDecodingContainer {
    let row: RowDecoder
    let column: Int
    let kind: ValueKind?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw Misfit.several
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Misfit.several }

    func decodeNil() -> Bool { row.statement.isNull(at: column) }
    func decode(_ type: Bool.Type) throws -> Bool { try row.plain(at: column) }

    func decode(_ type: String.Type) throws -> String {
        if case .uuid = kind { return try row.uuid(at: column) }
        return try row.plain(at: column)
    }

    func decode(_ type: Float.Type) throws -> Float { try row.float(at: column) }

    func decode(_ type: Double.Type) throws -> Double {
        if case .date = kind { return try row.date(at: column) }
        return try row.plain(at: column)
    }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        try row.integer(type, at: column)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try row.value(type, at: column) }
}

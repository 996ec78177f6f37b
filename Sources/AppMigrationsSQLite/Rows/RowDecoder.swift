internal import AppMigrationsSQL

/// Decodes the rows of one statement as Swift values.
final class RowDecoder: Decoder {
    let statement: SQLiteConnection.Statement
    private let rowType: any Any.Type
    let names: [String]
    var kinds = ValueKind.Cache()

    /// The keys in the order in which the type asks for them, which is the same for every row.
    private var requests: [(key: String, column: Column)] = []

    /// The index of each key in ``requests``.
    private var indexes: [String: Int] = [:]

    /// The index of the last request.
    private var current = 0

    /// The number of the current row, counted from 1.
    private var row = 0

    /// The reader of dates, created for the first date.
    private(set) lazy var dates = Result { () throws(SQLError) in try DateText(statement.connection) }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ rowType: any Any.Type, from statement: SQLiteConnection.Statement) {
        self.rowType = rowType
        self.statement = statement
        names = (0..<statement.columnCount).map(statement.columnName)
    }

    /// Reads the statement's current row.
    func decode<Row: Decodable>(_ type: Row.Type) throws(SQLError) -> Row {
        row += 1
        current = 0
        do {
            // A date, a UUID or bytes are read from a column, not from a row.
            if names.count == 1, kinds[type] != nil { return try value(type, at: 0) }
            return try type.init(from: self)
        } catch {
            throw error as? SQLError ?? failure("Row \(row): \(Self.message(of: error))", cause: error)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowDecodingContainer(row: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw failure("Row \(row): \(rowType) decodes a list, but a row has named columns")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard names.count == 1 else {
            throw failure("Row \(row): \(rowType) is one value, and the row has \(names.count) columns")
        }
        return CellDecoder(row: self, column: 0, kind: nil)
    }

    /// The column that has the value for a key.
    enum Column {
        case at(Int)
        case missing
        case ambiguous
    }

    /// Finds the column for a key.
    ///
    /// A type asks for its keys in the same order for each row. So the last request and the next one are
    /// tried first, then ``indexes``. The names of the columns are searched only for a new key.
    func column(for key: String) -> Column {
        if current < requests.count, requests[current].key == key { return requests[current].column }
        if current + 1 < requests.count, requests[current + 1].key == key {
            current += 1
        } else if let index = indexes[key] {
            current = index
        } else {
            let name = SQLName(key)
            let columns = names.indices.filter { SQLName(names[$0]) == name }
            current = requests.count
            indexes[key] = current
            requests.append(
                (key, columns.count > 1 ? .ambiguous : columns.first.map { .at($0) } ?? .missing)
            )
        }
        return requests[current].column
    }

    /// The column for a key; throws if there isn't exactly one.
    func existingColumn(for key: String) throws(SQLError) -> Int {
        switch column(for: key) {
        case .at(let column): return column
        case .ambiguous:
            throw failure("Row \(row): several columns are called \(key); rename all but one with AS")
        case .missing:
            let list = names.joined(separator: ", ")
            throw failure("Row \(row): \(rowType) needs a column \(key); the columns are \(list)")
        }
    }

    /// The error for a column whose value does not fit a type.
    func misfit(
        at column: Int,
        for type: String,
        cause: (any Error)? = nil
    ) throws(SQLError) -> SQLError {
        let value = try statement.value(at: column)
        let reason = cause.map { ": \(Self.message(of: $0))" } ?? ""
        return failure(
            "Row \(row), column \(names[column]): \(value.shown) does not fit \(type)\(reason)",
            cause: cause
        )
    }

    private func failure(_ message: String, cause: (any Error)? = nil) -> SQLError {
        statement.connection.addingPath(
            to: SQLError(.unreadableRow, message).with {
                $0.statement = statement.sql
                $0.underlyingError = cause
            }
        )
    }

    private static func message(of error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.keyNotFound(_, let context):
            context.debugDescription
        default: "\(error)"
        }
    }
}

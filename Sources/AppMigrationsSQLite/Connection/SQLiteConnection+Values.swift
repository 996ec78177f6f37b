internal import AppMigrations
internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection.Statement {
    /// The values of the row that `step` went to.
    func row() throws(SQLError) -> [SQLValue] {
        let count = columnCount
        var values = [SQLValue]()
        values.reserveCapacity(count)
        for index in 0..<count { values.append(try value(at: index)) }
        return values
    }

    /// The value of a column of the row that `step` went to, counted from 0.
    package func value(at index: Int) throws(SQLError) -> SQLValue {
        let column = Int32(index)
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(pointer, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(pointer, column))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(pointer, column)
            return .blob(Array(UnsafeRawBufferPointer(start: start, count: try size(column, start == nil))))
        default:
            return .text(try text(at: column))
        }
    }

    package func text(at column: Int32) throws(SQLError) -> String {
        let start = sqlite3_column_text(pointer, column)
        let count = try size(column, start == nil)
        // Much faster than what follows, and right unless the text holds a zero byte.
        if let start,
            let text = String(validatingCString: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)),
            text.utf8.count == count
        {
            return text
        }
        let utf8 = UnsafeBufferPointer(start: start, count: count)
        guard let text = String(validUTF8: utf8) else {
            var error = SQLError(
                .invalidText,
                "A text in the column \(columnName(Int(column))) is not UTF-8; CAST it AS BLOB to read its bytes"
            )
            error.change { $0.statement = sql }
            throw connection.naming(error)
        }
        return text
    }

    /// The number of bytes of a text or a blob.
    ///
    /// A null pointer is also how SQLite says that it had no memory for the value ("Result Values From A
    /// Query").
    private func size(_ column: Int32, _ isNull: Bool) throws(SQLError) -> Int {
        if isNull, sqlite3_errcode(connection.handle) == SQLITE_NOMEM { throw connection.error(SQLITE_NOMEM) }
        return Int(sqlite3_column_bytes(pointer, column))
    }
}

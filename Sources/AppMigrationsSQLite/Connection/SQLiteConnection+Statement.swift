internal import AppMigrations
internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// The number of rows that the last statement changed, and the number that all statements have changed.
    ///
    /// `last` doesn't count the changes of the statement's triggers. `all` counts them, and covers all
    /// statements on this connection.
    var changes: (last: Int32, all: Int32) {
        var changes: (last: Int32, all: Int32) = (0, 0)
        unlessClosed { changes = (sqlite3_changes(handle), sqlite3_total_changes(handle)) }
        return changes
    }

    /// Turns foreign keys on without a statement.
    func turnForeignKeysOn() {
        unlessClosed { app_migrations_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nil) }
    }

    /// A compiled statement.
    package final class Statement {
        package let connection: SQLiteConnection
        package let pointer: OpaquePointer
        private var isRunning = false
        private var beganInTransaction = false

        init(_ pointer: OpaquePointer, of connection: SQLiteConnection) {
            self.pointer = pointer
            self.connection = connection
        }

        deinit { sqlite3_finalize(pointer) }

        var parameterCount: Int { Int(sqlite3_bind_parameter_count(pointer)) }
        package var columnCount: Int { Int(sqlite3_column_count(pointer)) }
        package var sql: String { sqlite3_sql(pointer).map { String(cString: $0) } ?? "" }

        package func columnName(_ index: Int) -> String {
            sqlite3_column_name(pointer, Int32(index)).map { String(cString: $0) } ?? ""
        }

        /// Moves to the next row; returns false if there is none and the statement is done.
        package func step() throws(SQLError) -> Bool {
            if !isRunning {
                try connection.checkUsable()
                isRunning = true
                beganInTransaction = connection.hasTransaction
            }
            switch sqlite3_step(pointer) {
            case SQLITE_ROW: return true
            case SQLITE_DONE:
                reset()
                return false
            case let result:
                let error = connection.error(for: result).with { $0.statement = sql }
                connection.recordFailure(error, beganInTransaction: beganInTransaction)
                reset()
                throw error
            }
        }

        /// Makes the statement ready to run again.
        ///
        /// The result of `sqlite3_reset` is ignored: it repeats the error that `step` has thrown.
        package func reset() {
            sqlite3_reset(pointer)
            isRunning = false
        }

        package func bind(_ values: [SQLValue]) throws(SQLError) {
            guard values.count == parameterCount else {
                throw connection.invalidQuery(
                    "The statement has \(parameterCount) parameters, and \(values.count) arguments were given",
                    sql: sql
                )
            }
            for (index, value) in values.enumerated() { try bind(value, at: index) }
        }

        /// Binds a value to a parameter, counted from 0.
        package func bind(_ value: SQLValue, at index: Int) throws(SQLError) {
            let index = Int32(index + 1)
            let result =
                switch value {
                case .null: sqlite3_bind_null(pointer, index)
                case .integer(let value): sqlite3_bind_int64(pointer, index, value)
                case .real(let value): sqlite3_bind_double(pointer, index, value)
                case .text(var value):
                    value.withUTF8 { utf8 in
                        utf8.withMemoryRebound(to: CChar.self) {
                            app_migrations_bind_text(pointer, index, $0.baseAddress, UInt64($0.count))
                        }
                    }
                case .blob(let bytes):
                    bytes.isEmpty
                        ? sqlite3_bind_zeroblob(pointer, index, 0)
                        : app_migrations_bind_blob(pointer, index, bytes, UInt64(bytes.count))
                }
            if result != SQLITE_OK { throw connection.error(for: result).with { $0.statement = sql } }
        }
    }
}

extension SQLiteConnection.Statement {
    /// True if this statement, a `SELECT *` from a table of the main database, has exactly these columns, as
    /// this library creates them.
    func hasColumns(_ columns: [LedgerColumn], ofTable table: String) -> Bool {
        guard columnCount == columns.count else { return false }
        for index in columns.indices {
            let name = sqlite3_column_name(pointer, Int32(index))
            var type: UnsafePointer<CChar>?
            let result = sqlite3_table_column_metadata(
                connection.handle,
                "main",
                table,
                name,
                &type,
                nil,
                nil,
                nil,
                nil
            )
            guard result == SQLITE_OK, let name, let type, String(cString: name) == columns[index].name,
                String(cString: type) == columns[index].declaration
            else { return false }
        }
        return true
    }

    /// The values of the current row.
    func row() throws(SQLError) -> [SQLValue] {
        let count = columnCount
        var values = [SQLValue]()
        values.reserveCapacity(count)
        for index in 0..<count { values.append(try value(at: index)) }
        return values
    }

    /// The value of a column of the current row, counted from 0.
    package func value(at index: Int) throws(SQLError) -> SQLValue {
        let column = Int32(index)
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(pointer, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(pointer, column))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(pointer, column)
            let count = try size(of: column, isNull: start == nil)
            return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
        default:
            return .text(try text(at: column))
        }
    }

    package func text(at column: Int32) throws(SQLError) -> String {
        let start = sqlite3_column_text(pointer, column)
        let count = try size(of: column, isNull: start == nil)
        // Much faster than the code below, and right unless the text contains a zero byte.
        if let start,
            let text = String(validatingCString: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)),
            text.utf8.count == count
        {
            return text
        }
        let utf8 = Array(UnsafeBufferPointer(start: start, count: count))
        guard let text = String(validUTF8: utf8) else {
            throw connection.invalidQuery(
                "The column \(columnName(Int(column))) contains text that is not UTF-8. CAST it AS BLOB to read its bytes",
                code: .invalidText,
                sql: sql
            )
        }
        return text
    }

    /// The number of bytes of a text or a blob.
    ///
    /// SQLite returns a null pointer for an empty value, and also if it ran out of memory
    /// (https://sqlite.org/c3ref/column_blob.html).
    private func size(of column: Int32, isNull: Bool) throws(SQLError) -> Int {
        if isNull, sqlite3_errcode(connection.handle) == SQLITE_NOMEM {
            throw connection.error(for: SQLITE_NOMEM)
        }
        return Int(sqlite3_column_bytes(pointer, column))
    }
}

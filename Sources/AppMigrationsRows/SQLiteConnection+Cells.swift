internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteConnection.Statement {
    /// Whether a column of the row that `step` went to holds `NULL`.
    func isNull(at index: Int) -> Bool { sqlite3_column_type(pointer, Int32(index)) == SQLITE_NULL }

    /// The integer in a column; `nil` where it holds something else.
    func integer(at index: Int) -> Int64? {
        let column = Int32(index)
        guard sqlite3_column_type(pointer, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(pointer, column)
    }

    /// The number in a column; `nil` where it holds something else, or an integer that no `Double` equals.
    ///
    /// A column of numeric affinity keeps 3.0 as the integer 3 ("Datatypes In SQLite").
    func real(at index: Int) -> Double? {
        let column = Int32(index)
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_FLOAT: return sqlite3_column_double(pointer, column)
        case SQLITE_INTEGER: return Double(exactly: sqlite3_column_int64(pointer, column))
        default: return nil
        }
    }

    /// The text in a column; `nil` where it holds something else.
    func string(at index: Int) throws(SQLError) -> String? {
        let column = Int32(index)
        guard sqlite3_column_type(pointer, column) == SQLITE3_TEXT else { return nil }
        return try text(at: column)
    }
}

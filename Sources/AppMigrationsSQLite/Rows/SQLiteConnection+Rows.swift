public import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs one statement and reads each of its rows into a value.
    ///
    /// It is made for the inside of migrations: the types should be the migration's own, as <doc:RowsInsideMigrations>
    /// says, which also has the table of what a column may hold for which type. Nothing is converted on the way
    /// that would change it. A key finds the column as SQL does, `Title` also `title`. A column that is not there
    /// is like `NULL` for an optional property. Where a statement has one column, a type may also be the
    /// value itself: `fetch(Int.self, "SELECT id FROM note")`.
    ///
    /// - Parameters:
    ///   - type: The type of a row. Its properties are columns, and none of them is made of several values.
    ///   - sql: One statement.
    ///   - arguments: A value for each of its parameters, in order.
    /// - Returns: The values in the order of the rows, all at once.
    /// - Throws: `SQLError` with the code `SQLError.Code.unreadableRow`, the row, counted from 1, the column,
    ///   the value and the type that it does not fit; everything that `query(_:_:)` throws.
    public func fetch<Row: Decodable>(
        _ type: Row.Type,
        _ sql: String,
        _ arguments: [SQLValue] = []
    ) throws(SQLError) -> [Row] {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        let decoder = RowDecoder(type, from: statement)
        var rows = [Row]()
        while try statement.step() { rows.append(try decoder.decode(type)) }
        return rows
    }

    /// Inserts values into a table as its rows, all of them or none.
    ///
    /// Each property is a column of the same name. `nil` is `NULL`, and not the default of the column. Columns
    /// that no property has get their defaults. It is a transaction of its own, or a savepoint in the one that is
    /// open.
    ///
    /// - Parameters:
    ///   - rows: The values, of which each encodes the same columns or some of its own.
    ///   - table: The name of the table, without quotes.
    /// - Throws: `SQLError` with the row, counted from 1: with the code `SQLError.Code.unwritableRow` for a
    ///   value that a column can't hold; what SQLite says of a row otherwise, such as one whose key is taken.
    public func insert<Row: Encodable>(_ rows: [Row], into table: String) throws(SQLError) {
        do { try transaction { try insertAll(rows, into: table) } } catch {
            throw naming(SQLError.wrapped(error, as: .statementFailed))
        }
    }

    private func insertAll<Row: Encodable>(_ rows: [Row], into table: String) throws(SQLError) {
        let encoder = RowEncoder(self, table)
        var statement: Statement?
        for row in rows {
            let hasSameColumns = try encoder.encode(row)
            let insertion: Statement
            if hasSameColumns, let statement {
                insertion = statement
            } else {
                insertion = try prepare(encoder.statement())
                statement = insertion
            }
            do throws(SQLError) {
                for (index, value) in encoder.values.enumerated() { try insertion.bind(value, at: index) }
                while try insertion.step() {}
            } catch { throw encoder.counted(error) }
        }
    }
}

extension SQLiteConnection.Statement {
    /// True if a column of the row that `step` went to holds `NULL`.
    func isNull(at index: Int) -> Bool { sqlite3_column_type(pointer, Int32(index)) == SQLITE_NULL }
}

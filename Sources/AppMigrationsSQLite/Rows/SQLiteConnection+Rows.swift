public import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs one statement and reads each of its rows into a value.
    ///
    /// It is meant for use inside migrations. The types should belong to the migration, as
    /// <doc:RowsInsideMigrations> explains. That page also lists which values fit which type. No value is
    /// converted in a way that would change it.
    ///
    /// Keys are compared like names in SQL, so `Title` also finds `title`. For an optional property, a
    /// missing column is like `NULL`. If the statement has one column, the type may also be the value itself:
    /// `fetch(Int.self, "SELECT id FROM note")`.
    ///
    /// - Parameters:
    ///   - type: The type of a row. Each of its properties is a column and has a single value.
    ///   - sql: One statement.
    ///   - arguments: A value for each of its parameters, in order.
    /// - Returns: An array with all values, in the order of the rows.
    /// - Throws: `SQLError` with the code `SQLError.Code.unreadableRow` if a row doesn't fit the type. Its
    ///   message names the row (counted from 1), the column, the value and the type. Also every error of
    ///   `query(_:_:)`.
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
    /// Each property is a column of the same name. `nil` is inserted as `NULL`, and not as the column's
    /// default. Columns without a property get their defaults. The rows are inserted in a transaction, or in
    /// a savepoint if a transaction is open.
    ///
    /// - Parameters:
    ///   - rows: The values. They need not all encode the same columns.
    ///   - table: The name of the table, without quotes.
    /// - Throws: `SQLError` with the row, counted from 1: with the code `SQLError.Code.unwritableRow` for a
    ///   value that a column can't hold, or with SQLite's message, for example if the key of a row already
    ///   exists.
    public func insert<Row: Encodable>(_ rows: [Row], into table: String) throws(SQLError) {
        do { try transaction { try insertAll(rows, into: table) } } catch {
            throw addingPath(to: SQLError.wrapped(error, as: .statementFailed))
        }
    }

    private func insertAll<Row: Encodable>(_ rows: [Row], into table: String) throws(SQLError) {
        let encoder = RowEncoder(for: table, in: self)
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
            } catch { throw encoder.addingRow(to: error) }
        }
    }
}

extension SQLiteConnection.Statement {
    /// True if a column of the current row is `NULL`.
    func isNull(at index: Int) -> Bool { sqlite3_column_type(pointer, Int32(index)) == SQLITE_NULL }
}

public import AppMigrationsSQLite

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

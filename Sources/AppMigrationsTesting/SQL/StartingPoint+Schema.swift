public import AppMigrationsSQL

extension StartingPoint {
    /// Data of `version` that is a database with the schema that an ``SQLRehearsal`` recorded for it.
    ///
    /// ```swift
    /// let point = StartingPoint.schema("2.1", recordedIn: "2.1.sql") {
    ///     try SQLiteConnection(path: $0 + "/library.sqlite")
    /// }
    /// ```
    ///
    /// `file` is the path of the record, and `open` opens the database in a folder, where there is none yet.
    public static func schema(
        _ version: String,
        recordedIn file: String,
        opening open: @escaping @Sendable (_ folder: String) throws -> any SQLConnection
    ) -> StartingPoint {
        .version(version) { folder in try SQLSchemaRecord(file: file).make(in: open(folder)) }
    }
}

public import AppMigrationsSQL

/// The error codes that only an `SQLiteConnection` uses.
extension SQLError.Code {
    /// The query isn't exactly one statement, or the number of arguments isn't the number of parameters.
    public static var invalidQuery: Self { Self("invalidQuery") }

    /// A text in the database is not UTF-8.
    public static var invalidText: Self { Self("invalidText") }

    /// A value does not fit the columns of a row; no row was inserted.
    public static var unwritableRow: Self {
        Self(
            "unwritableRow",
            advice: "No row was inserted."
        )
    }

    /// The number of sModel can't be read, because its place belongs to an unknown version of sModel or to
    /// another library.
    public static var unknownSModelFormat: Self {
        Self(
            "unknownSModelFormat",
            advice: "Nothing was changed. If a newer release of the app wrote the database, update the app."
        )
    }

    /// `insideTransaction: true` was given, and the connection is not in a transaction.
    public static var notInTransaction: Self {
        Self(
            "notInTransaction",
            advice: "Begin a transaction first, or remove the argument insideTransaction:.",
            saysNoMigrationWasRun: true
        )
    }
}

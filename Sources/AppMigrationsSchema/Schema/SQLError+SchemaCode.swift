public import AppMigrationsSQLite

/// The codes of errors that only changes of a schema and stores throw.
extension SQLError.Code {
    /// A table can't be rebuilt as requested, or a schema plan can't be created or applied; nothing was
    /// changed.
    public static var refusedSchemaChange: Self { Self("refusedSchemaChange") }

    /// A view or a trigger would no longer compile after a change of a table; the change was rolled back.
    public static var brokenObject: Self { Self("brokenObject") }

    /// A schema plan has questions that no hint answers; nothing was changed.
    public static var openQuestions: Self {
        Self(
            "openQuestions",
            advice: "Nothing was changed. Answer the questions in the plan's hints."
        )
    }

    /// The app's own copy code was interrupted and left two tables or two stores, and either may have the
    /// right rows; nothing was changed.
    public static var undecidedCopy: Self {
        Self(
            "undecidedCopy",
            advice: "Nothing was changed. Choose one of them (choosing:). The other one is kept."
        )
    }

    /// The app's own copy code was interrupted and left a log or a journal that may belong to either of two
    /// stores; nothing was changed.
    public static var undecidedLog: Self {
        Self(
            "undecidedLog",
            advice: "Nothing was changed. Say which store it belongs to (log:)."
        )
    }

    /// A store is not damaged, and was not set aside.
    public static var notDamaged: Self {
        Self(
            "notDamaged",
            advice: "Nothing was renamed."
        )
    }

    /// A store was written by a newer version of SQLite, and this version can't read it.
    public static var newerSchema: Self {
        Self(
            "newerSchema",
            advice: "Nothing was changed. Update the app, or use a newer SQLite.",
            userAdvice: .updateApp
        )
    }

    /// A store could not be read, or looks encrypted.
    public static var unreachable: Self {
        Self(
            "unreachable",
            advice: "Nothing was changed. This says nothing about the content of the store."
        )
    }

    /// A staged migration left rows that break a constraint; the store is unchanged.
    public static var constraintViolation: Self {
        Self(
            "constraintViolation",
            advice: "Fix these rows in the migration itself."
        )
    }

    /// The work that the message names was done, and only the cleanup after it failed.
    public static var cleanupFailed: Self {
        Self(
            "cleanupFailed",
            advice: "The next call repeats the cleanup."
        )
    }
}

/// How far a run is, told after each migration.
public struct SQLMigrationProgress: Sendable, Hashable {
    /// How many migrations are done, this one included.
    public let completed: Int

    /// How many there were to run.
    public let total: Int

    /// The version of the migration that was just run.
    public let version: Int64

    /// Its name.
    public let name: String?
}

/// What should happen after a migration.
public enum SQLMigrationAnswer: Sendable, Hashable {
    /// Commit it and run the next.
    case goOn

    /// Commit it and run no other.
    case stopAfterThis

    /// Undo it, and with ``SQLMigrator/Transactions/all`` every one before it, and run no other.
    case rollBack
}

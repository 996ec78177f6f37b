/// How far a run is, told after each migration that it ran.
public struct SQLMigrationProgress: Sendable, Hashable {
    /// How many migrations this call has run, this one included.
    public let completed: Int

    /// How many migrations this call runs, as far as it knows.
    ///
    /// The ones that another process ran meanwhile are no longer counted.
    public let total: Int

    /// The version of the migration that this call just ran.
    public let version: Int64

    /// Its name.
    public let name: String?

    /// What should happen after a migration.
    public enum Answer: Sendable, Hashable {
        /// Commit it and run the next.
        case `continue`

        /// Commit it and run no other.
        case stop

        /// Undo it, and with ``SQLMigrator/Transactions/all`` every one before it, and run no other.
        case rollBack
    }
}

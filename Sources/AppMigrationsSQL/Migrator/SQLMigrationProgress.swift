/// How far a run is, told after each migration that it ran, and each time a migration's closure reports.
public struct SQLMigrationProgress: Sendable {
    /// How many migrations this call has run, this one included once its ``fraction`` is 1.
    public let completed: Int

    /// How many migrations this call runs, as far as it knows.
    ///
    /// The ones that another process ran meanwhile are no longer counted.
    public let total: Int

    /// The version of the migration that this call runs or just ran.
    public let version: Int64

    /// Its name.
    public let name: String?

    /// How much of this migration is done, from 0 to 1: what its closure reported, and 1 when it has run.
    public internal(set) var fraction: Double

    /// The progress of a closure that reports `fraction` of its own work.
    func reporting(_ fraction: Double) -> SQLMigrationProgress {
        var progress = self
        progress.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        return progress
    }

    /// The answer to what should happen after a migration.
    ///
    /// To a closure that reports, `continue` alone lets it go on: each other one ends
    /// it, and its migration is undone, with ``SQLMigrator/Transactions/all`` every one before it.
    public enum Answer: Sendable, Hashable {
        /// Commit it and run the next.
        case `continue`

        /// Commit it and run no other.
        case stop

        /// Undo it, and with ``SQLMigrator/Transactions/all`` every one before it, and run no other.
        case rollBack
    }
}

/// The progress of a call of `migrate`, sent after each migration, and each time a migration's closure
/// reports.
public struct SQLMigrationProgress: Sendable {
    /// The number of migrations that this call has run.
    ///
    /// It includes the current one when its ``fraction`` is 1.
    public let completed: Int

    /// The number of migrations that this call expects to run.
    ///
    /// Migrations that another process has run during the call aren't counted.
    public let total: Int

    /// The version of the current migration, which is running or has just run.
    public let version: Int64

    /// The name of the current migration.
    public let name: String?

    /// How much of the current migration is done, from 0 to 1: the fraction that its closure reported, and 1
    /// when it has run.
    public internal(set) var fraction: Double

    /// The progress of a closure that reports `fraction` of its own work.
    func reporting(_ fraction: Double) -> SQLMigrationProgress {
        var progress = self
        progress.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        return progress
    }

    /// How to go on after a migration.
    ///
    /// If a migration's closure reports its progress, only `continue` lets it go on. Every other answer ends
    /// the closure and rolls its migration back, and with ``SQLMigrator/Transactions/all`` every migration
    /// before it.
    public enum Answer: Sendable, Hashable {
        /// Commit the migration and run the next one.
        case `continue`

        /// Commit the migration and run no other.
        case stop

        /// Roll the migration back, and with ``SQLMigrator/Transactions/all`` every migration before it, and
        /// run no other.
        case rollBack
    }
}

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

    /// This progress with the fraction of its work that a closure reported, limited to 0 to 1.
    func with(fraction: Double) -> SQLMigrationProgress {
        var progress = self
        progress.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        return progress
    }

    /// The answer of the progress closure, which decides whether `migrate` continues.
    ///
    /// After a migration has run, the answers mean what they say below. While a closure reports its progress,
    /// the migration isn't complete, so `stop` acts like `rollBack`: the report throws, and the migration is
    /// rolled back.
    public enum Answer: Sendable, Hashable {
        /// Commit the migration and run the next one.
        case `continue`

        /// Commit the migration and run no other.
        case stop

        /// Roll the migration back and run no other.
        ///
        /// With ``SQLMigrator/Transactions/all``, the earlier migrations of this call are rolled back as
        /// well.
        case rollBack
    }
}

/// How far a database's schema is, compared with the migrations of this app.
///
/// ## Topics
///
/// ### What was applied
///
/// - ``hasMigrationsTable``
/// - ``originVersion``
/// - ``currentVersion``
/// - ``applied``
///
/// ### What will run
///
/// - ``pending``
/// - ``outOfOrder``
///
/// ### What needs a person
///
/// - ``unknown``
/// - ``changed``
public struct SQLMigrationStatus: Sendable, Equatable {
    /// Whether the database has the ledger, the table `schema_migrations` unless the migrator has another.
    public let hasMigrationsTable: Bool

    /// The oldest version applied.
    public let originVersion: Int64?

    /// The newest version applied.
    public let currentVersion: Int64?

    /// Every version applied, in order.
    public let applied: [Int64]

    /// The versions that the next `migrate` runs, in order.
    public let pending: [Int64]

    /// Versions applied that this app does not have: a newer release made or changed the database.
    public let unknown: [Int64]

    /// Pending versions below the newest applied: late ones, from a branch for instance.
    ///
    /// They run.
    public let outOfOrder: [Int64]

    /// Versions whose SQL is another one than when it was applied.
    ///
    /// Nothing is done about it: the database has what the old text made. Versions without a checksum, of
    /// closures and of a ledger that another library made, are never in it.
    public let changed: [Int64]
}

/// How far a database's schema is, compared with the migrations of this app.
public struct SQLMigrationStatus: Sendable, Hashable {
    /// Whether the database has the ledger, the table `schema_migrations` unless the migrator has another.
    public let hasMigrationsTable: Bool

    /// The oldest version applied.
    public let originVersion: Int64?

    /// The newest version applied.
    public let currentVersion: Int64?

    /// Every version applied, in order.
    public let applied: [Int64]

    /// The versions that the next ``SQLMigrator/migrate(_:to:insideTransaction:progress:)`` runs, in order.
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

/// What one call of ``SQLMigrator/migrate(_:to:insideTransaction:progress:)`` did.
public struct SQLMigrationReport: Sendable, Hashable {
    /// The versions that this call applied, in order.
    ///
    /// Another process may have applied others meanwhile.
    public let applied: [Int64]

    /// Those of `applied` that lie below a version applied before.
    public let outOfOrder: [Int64]

    /// Versions in the database that this app does not have: a newer release made or changed it.
    public let unknown: [Int64]

    /// Versions whose SQL is another one than when it was applied, as ``SQLMigrationStatus/changed`` has them.
    ///
    /// A call that finds nothing pending compares the newest one, and all of them where that one differs. So it reads
    /// one file and not every file at every start; a test of the app asks ``SQLMigrator/status(_:)`` for the rest.
    public let changed: [Int64]
}

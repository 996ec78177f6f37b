/// What one call of `migrate` did.
public struct SQLMigrationReport: Sendable {
    /// The versions that this call applied, in order.
    ///
    /// Another process may have applied others meanwhile.
    public internal(set) var applied = [Int64]()

    /// Those of `applied` that lie below a version applied before.
    public internal(set) var outOfOrder = [Int64]()

    /// Versions in the database that this app does not have: a newer release made or changed it.
    public internal(set) var unknown = [Int64]()

    /// Versions whose SQL is another one than when it was applied, as `SQLMigrationStatus.changed` has them.
    ///
    /// A call that finds nothing pending compares the newest migration, and all of them where the newest differs. So it reads
    /// one file and not every file at every start; a test of the app asks `status` for the rest.
    public internal(set) var changed = [Int64]()
}

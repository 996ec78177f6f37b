public import AppMigrations

extension MigrationError.Code {
    /// The host that ran the closure could not renew its lease (its right to migrate the shared data), or
    /// another host took over.
    ///
    /// The migration was not recorded, and runs again here or on another host. The closure's task was
    /// cancelled. What the closure changed before that isn't undone.
    public static var leaseLost: MigrationError.Code { MigrationError.Code("leaseLost") }

    /// The state in the store is behind what this manager has seen.
    ///
    /// Somebody has reset it, or the store has lost its last writes in a failover, or a backup was restored.
    /// The error is transient: a new manager reads the state again, and runs what is pending there.
    public static var stateBehind: MigrationError.Code { MigrationError.Code("stateBehind") }
}

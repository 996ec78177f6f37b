// Sample 1 of PluggingInAnotherMigrator.md

// Sample 2 of PluggingInAnotherMigrator.md

func migrate(
    _ queue: DatabaseQueue,
    by migrator: DatabaseMigrator,
    with migrations: MigrationManager
) throws {
    // Sample 1 of MigrationManager+WithLock.swift
}

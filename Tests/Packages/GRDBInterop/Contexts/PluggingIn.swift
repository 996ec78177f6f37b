// Sample 1 of AnotherMigrator.md

// Sample 5 of AnotherMigrator.md

func migrate(
    _ queue: DatabaseQueue,
    by migrator: DatabaseMigrator,
    with migrations: MigrationManager
) throws {
    // Sample 1 of MigrationManager+WithLock.swift
}

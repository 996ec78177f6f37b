import AppMigrations
import GRDB

func migrate(
    _ queue: DatabaseQueue,
    by migrator: DatabaseMigrator,
    with migrations: MigrationManager
) throws {
    // Sample 1 of MigrationManager+WithLock.swift
}

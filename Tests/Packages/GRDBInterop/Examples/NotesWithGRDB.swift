import AppMigrations
import Foundation
import GRDB

struct NewerNotes: Error {}

func notesMigrator() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("notes") { db in
        try db.create(table: "note") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("title", .text).notNull()
        }
    }
    migrator.registerMigration("colors") { db in
        try db.alter(table: "note") { table in
            table.add(column: "color", .text)
        }
    }
    return migrator
}

/// Call it once at each start, before anything uses the notes.
func openNotes(
    in folder: URL,
    appVersion: String,
    log: @escaping @Sendable (String) -> Void
) throws -> DatabasePool {
    func path(_ name: String) -> String {
        folder.appending(path: name).path(percentEncoded: false)
    }
    let file = path("notes.sqlite")
    let migrations = try MigrationManager(
        named: "Notes",
        currentVersion: appVersion,
        // The releases up to 1.3 didn't use this library. Evaluated
        // only if there is no state yet, and while the manager
        // holds the lock.
        firstRun: FileManager.default.fileExists(atPath: file)
            ? .existingData(at: "1.3") : .freshInstall,
        stateDirectory: path("migrations"),
        options: .init(lockTimeout: .seconds(60)) { event in
            log("\(event)")
        }
    )
    // A later release may exclude this one with
    // `minimumAppVersion:`.
    if migrations.requiredAppVersion != nil {
        throw NewerNotes()
    }
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    func openPool() throws -> DatabasePool {
        let pool = try DatabasePool(
            path: file,
            configuration: configuration
        )
        // Otherwise a power failure can undo the last commits.
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
        }
        return pool
    }
    // GRDB takes no lock of its own, so this library's lock is held
    // while a pool is opened and migrated for the first time.
    try migrations.withLock {
        let pool = try openPool()
        try migrateNotes(pool)
        try pool.close()
    }
    let pool = try openPool()
    // Work on files runs after GRDB. Declare each new migration
    // at the end.
    try migrations.whenMigrating(toVersion: "1.4") { context in
        let old = path("thumbnails")
        if FileManager.default.fileExists(atPath: old) {
            try FileManager.default.removeItem(atPath: old)
        }
        // Name the files that a closure has written. If it has
        // removed something, name another item of that folder.
        try context.synchronize([path("migrations")])
    }
    return pool
}

/// The names of GRDB's migrations that later releases have renamed or
/// merged.
///
/// They can stay in GRDB's table for ever, so never remove one from
/// here.
let formerMigrations: Set<String> = []

/// Migrates the whole database.
///
/// It runs at every start.
func migrateNotes(_ pool: DatabasePool) throws {
    let migrator = notesMigrator()
    let known = formerMigrations.union(migrator.migrations)
    let applied = try pool.read(migrator.appliedIdentifiers)
    if !applied.isSubset(of: known) {
        throw NewerNotes()
    }
    try migrator.migrate(pool)
    // An older release, or a backup, may have rows of the old form.
    try pool.write { db in
        try db.execute(
            sql: "UPDATE note SET color = 'yellow'"
                + " WHERE color IS NULL"
        )
    }
}

func resetAfterRestore(
    in folder: URL,
    to version: String,
    appVersion: String
) throws {
    let migrations = try MigrationManager(
        named: "Notes",
        currentVersion: appVersion,
        // On a new host there is no state yet.
        firstRun: .existingData(at: version),
        stateDirectory: folder.appending(path: "migrations")
            .path(percentEncoded: false)
    )
    try migrations.reset(to: version)
}

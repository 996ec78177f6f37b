import AppMigrations
import Foundation
import GRDB

/// The gate of the app.
///
/// Create one at the top level. After `try await gate.ready()`, open
/// the notes with `openPool(in:)`.
func notesGate(
    in folder: URL,
    appVersion: String,
    log: @escaping @Sendable (String) -> Void
) -> MigrationGate {
    MigrationGate { attempt in
        let migrations = try notesManager(
            in: folder,
            appVersion: appVersion,
            options: attempt.options(
                .init(attemptLimit: 3) { event in log("\(event)") }
            )
        )
        if attempt.isRetry { try migrations.resetAttempts() }
        // Throws if a newer release has excluded this one.
        try attempt.plan(migrations) {
            try declareFiles($0, in: folder)
        }
        // GRDB takes no lock of its own, so this library's lock is
        // held while a pool is opened and migrated.
        try migrations.withLock {
            let pool = try openPool(in: folder)
            try migrateTables(of: pool, during: attempt)
            try pool.close()
        }
        try declareFiles(migrations, in: folder)
    }
}

func notesManager(
    in folder: URL,
    appVersion: String,
    options: MigrationManager.Options = .init()
) throws -> MigrationManager {
    try MigrationManager(
        named: "Notes",
        currentVersion: appVersion,
        // The releases up to 1.3 didn't use this library. Evaluated
        // only if there is no state yet.
        firstRun: exists("notes.sqlite", in: folder)
            ? .existingData(at: "1.3") : .freshInstall,
        stateDirectory: path("migrations", in: folder),
        options: options
    )
}

// MARK: - Tables

func notesMigrator(
    willRun: @escaping @Sendable (String) -> Void = { _ in }
) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    func register(
        _ name: String,
        _ change: @escaping @Sendable (Database) throws -> Void
    ) {
        migrator.registerMigration(name) { db in
            willRun(name)
            try change(db)
        }
    }
    register("notes") { db in
        try db.create(table: "note") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("title", .text).notNull()
        }
    }
    register("colors") { db in
        try db.alter(table: "note") { table in
            table.add(column: "color", .text)
        }
    }
    return migrator
}

/// The names of GRDB's migrations that were renamed or merged.
///
/// They can stay in GRDB's table for ever, so never remove one from
/// here.
let formerMigrations: Set<String> = []

struct NewerNotes: Error {}

func requireKnownMigrations(_ db: Database) throws {
    let migrator = notesMigrator()
    let known = formerMigrations.union(migrator.migrations)
    let applied = try migrator.appliedIdentifiers(db)
    if !applied.isSubset(of: known) { throw NewerNotes() }
}

/// It runs at every start.
func migrateTables(
    of pool: DatabasePool,
    during attempt: MigrationGate.Attempt
) throws {
    let applied = try pool.read { db in
        try requireKnownMigrations(db)
        return try notesMigrator().appliedIdentifiers(db)
    }
    let pending = notesMigrator().migrations
        .filter { !applied.contains($0) }
    if !pending.isEmpty {
        let migrator = notesMigrator { name in
            let done = pending.firstIndex(of: name) ?? 0
            attempt.reportProgress(
                Double(done) / Double(pending.count)
            )
        }
        try attempt.step("Notes") { try migrator.migrate(pool) }
    }
    // An older release, or a backup, may have rows of the old form.
    try pool.write { db in
        try db.execute(
            sql: "UPDATE note SET color = 'yellow'"
                + " WHERE color IS NULL"
        )
    }
}

/// True if there are rows that an older release has written.
///
/// This release always writes a color.
func hasOldRows(_ db: Database) throws -> Bool {
    try Bool.fetchOne(
        db,
        sql: "SELECT EXISTS "
            + "(SELECT 1 FROM note WHERE color IS NULL)"
    ) ?? false
}

func openPool(in folder: URL) throws -> DatabasePool {
    try requireNoLoneLog(in: folder)
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    let pool = try DatabasePool(
        path: path("notes.sqlite", in: folder),
        configuration: configuration
    )
    // Otherwise a power failure can undo the last commits.
    try pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA synchronous = FULL")
    }
    return pool
}

struct LostNotes: Error {}

/// Throws if the database is lost, and its log isn't.
///
/// GRDB would create an empty database, and SQLite would remove the
/// log, which has the last commits.
func requireNoLoneLog(in folder: URL) throws {
    func size(_ name: String) throws -> Int {
        guard exists(name, in: folder) else { return 0 }
        let attributes = try FileManager.default
            .attributesOfItem(atPath: path(name, in: folder))
        return attributes[.size] as? Int ?? 0
    }
    // Ask for the log first: a new database has pages before it has.
    // A log without a page has 32 bytes.
    let log = try size("notes.sqlite-wal")
    if try log > 32 && size("notes.sqlite") == 0 { throw LostNotes() }
}

// MARK: - Files

/// Work on files, which runs after GRDB.
///
/// Declare each new migration at the end.
func declareFiles(
    _ migrations: MigrationManager,
    in folder: URL
) throws {
    try migrations.whenMigrating(toVersion: "1.4") { context in
        if exists("thumbnails", in: folder) {
            try FileManager.default.removeItem(
                atPath: path("thumbnails", in: folder)
            )
        }
        // Name the files that a closure has written. If it has
        // removed something, name another item of that folder.
        try context.synchronize([path("migrations", in: folder)])
    }
}

func path(_ name: String, in folder: URL) -> String {
    folder.appending(path: name).path(percentEncoded: false)
}

func exists(_ name: String, in folder: URL) -> Bool {
    FileManager.default
        .fileExists(atPath: path(name, in: folder))
}

// MARK: - The extension, the screen and a restored backup

/// What an extension calls, each time it reads notes.
///
/// It returns `nil` if the user has to open the app first.
func readInExtension<Value>(
    in folder: URL,
    appVersion: String,
    _ body: (Database) throws -> Value
) throws -> Value? {
    let look = try notesManager(
        in: folder,
        appVersion: appVersion,
        options: .init(isReadOnly: true)
    )
    switch try look.readiness({ try declareFiles($0, in: folder) }) {
    case .ready: break
    case .needsMigration, .isMigrating: return nil
    case .needsNewerApp: throw NewerNotes()
    }
    guard exists("notes.sqlite", in: folder) else { return nil }
    try requireNoLoneLog(in: folder)
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    configuration.readonly = true
    let queue = try DatabaseQueue(
        path: path("notes.sqlite", in: folder),
        configuration: configuration
    )
    // In one transaction, so that no row changes in between.
    return try queue.read { db in
        // The state doesn't know GRDB's migrations.
        try requireKnownMigrations(db)
        let isMigrated = try notesMigrator()
            .hasCompletedMigrations(db)
        // The database alone may have been restored.
        guard try isMigrated && !hasOldRows(db) else { return nil }
        return try body(db)
    }
}

/// What the screen says in the state `failed`.
func advice(after error: any Error) -> String {
    let cause = (error as? MigrationError)?.underlyingError
    // MigrationAdvice doesn't know the errors of GRDB.
    switch ((cause ?? error) as? DatabaseError)?.resultCode {
    // A full disk can be an IOERR too.
    case .SQLITE_FULL, .SQLITE_IOERR:
        return "There may be no space left. Delete something else, "
            + "and try again."
    case .SQLITE_CORRUPT, .SQLITE_NOTADB:
        return "The notes are damaged. Restore a backup."
    default:
        if cause is NewerNotes || error is NewerNotes {
            return "Update the app."
        }
        if error is LostNotes { return "Restore a backup." }
        return MigrationAdvice(after: error).description
    }
}

/// Call it once, while no process runs, after the database alone was
/// restored.
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
        stateDirectory: path("migrations", in: folder)
    )
    try migrations.reset(to: version)
}

import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation

// The samples of "Replacing a store" and "When a database is damaged", as they stand there.

/// A migrator that tells when it was asked, so that a test can begin two migrations before one of them runs.
struct AskedMigrator {
    let migrator: SQLiteMigrator
    let whenAsked: () -> Void

    func status(_ db: SQLiteConnection) throws -> SQLMigrationStatus {
        defer { whenAsked() }
        return try migrator.status(db)
    }

    func migrate(_ db: SQLiteConnection) throws -> SQLMigrationReport { try migrator.migrate(db) }
}

func replacing(
    _ path: String,
    _ migrator: SQLiteMigrator,
    whenAsked: @escaping () -> Void = {}
) throws -> Bool {
    let migrator = AskedMigrator(migrator: migrator, whenAsked: whenAsked)
    let store = SQLiteStore(path: path)
    let db = try SQLiteConnection(path: path)
    let pending = try migrator.status(db).pending
    db.close()
    if pending.isEmpty {
        try store.removeLeftovers(backupExtension: "bak")
        return false
    }
    return try store.migrateStaged(backupExtension: "bak") { copy in
        let applied = try migrator.migrate(copy).applied
        if !applied.isEmpty { try copy.query("VACUUM") }
    }
}

func planning(_ store: SQLiteStore, _ schema: String, release: Int64 = 1) throws -> Bool {
    func refuseNewer(_ db: SQLiteConnection) throws {
        if try db.userVersion > release { throw NewerStore() }
    }
    let status = try store.status(target: schema)
    switch status {
    case .same, .migratable, .undecided:
        let db = try SQLiteConnection(path: store.path)
        defer { db.close() }
        try refuseNewer(db)
    default: break
    }
    switch status {
    case .same:
        try store.removeLeftovers(backupExtension: "bak")
        return false
    case .missing, .migratable:
        return try store.migrateStaged(backupExtension: "bak") { copy in
            try refuseNewer(copy)
            let plan = try SchemaPlan(from: copy, to: schema)
            if plan.steps.isEmpty { return }
            try plan.apply(copy)
            try copy.query("PRAGMA user_version = \(release)")
        }
    case .undecided(let questions):
        throw Unanswered(questions: questions)
    case .damaged(let error), .newer(let error), .busy(let error),
        .unreachable(let error):
        throw error
    }
}

struct NewerStore: Error {}

struct Unanswered: Error { let questions: [SchemaPlan.Question] }

struct Showing {
    let show: (Double) -> Void
    let isCancelled: () -> Bool

    func migrate(_ store: SQLiteStore, _ migrator: SQLiteMigrator) throws {
        try store.migrateStaged { progress in
            show(progress.fraction)
            return isCancelled() ? .cancel : .continue
        } body: { copy in
            try migrator.migrate(copy) { step in
                let done = Double(step.completed) / Double(step.total)
                show(SQLiteStore.Progress.fraction(ofBody: done))
                return isCancelled() ? .rollBack : .continue
            }
        }
    }
}

func opening(
    _ path: String,
    _ migrations: MigrationManager,
    report: (SQLError?, String) -> Void
) throws -> SQLiteConnection {
    let db = try SQLiteStore(path: path).open { aside in
        report(aside.error, aside.path)
        let backup = aside.storePath + ".bak"
        if FileManager.default.fileExists(atPath: backup) {
            try migrations.reset(to: "1.0")
            try FileManager.default.copyItem(
                atPath: backup,
                toPath: aside.storePath
            )
        }
    }
    return db
}

struct Mending {
    let migrator: SQLiteMigrator
    let restore: (SQLiteStore.SetAside) throws -> Void

    func open(_ path: String) throws -> SQLiteConnection {
        let store = SQLiteStore(path: path)
        let db = try store.open(recovering: restore)
        do {
            try migrator.migrate(db)
            return db
        } catch {
            db.close()
            guard error.code == .damaged else { throw error }
        }
        let mended = try store.open(check: .quick, recovering: restore)
        try migrator.migrate(mended)
        return mended
    }
}

func checking(_ store: SQLiteStore, _ schema: String, report: (SQLError?, String) -> Void) throws {
    let status = try store.status(target: schema, check: .quick)
    if case .damaged(let error) = status {
        let aside = try store.setAside(check: .quick)
        report(error, aside.path)
    }
}

func opening(cache store: SQLiteStore, _ migrator: SQLiteMigrator) throws -> SQLiteConnection {
    let cache = try store.open { _ in }
    do {
        try migrator.migrate(cache)
        return cache
    } catch let error {
        cache.close()
        guard [.statementFailed, .damaged].contains(error.code) else {
            throw error
        }
    }
    try store.setAside(onlyIfDamaged: false)
    let empty = try store.open { _ in }
    try migrator.migrate(empty)
    return empty
}

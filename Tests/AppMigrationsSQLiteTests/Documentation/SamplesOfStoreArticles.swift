import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation

// The samples of "Replacing a store" and "When a database is damaged", as they stand there.

func replacing(_ path: String, _ migrator: SQLiteMigrator) throws -> Bool {
    let store = SQLiteStore(path: path)
    let db = try SQLiteConnection(path: path)
    let pending = try migrator.status(db).pending
    db.close()
    if pending.isEmpty { return false }
    return try store.migrateStaged(backupExtension: "bak") { copy in
        try migrator.migrate(copy)
        try copy.query("VACUUM")
    }
}

func planning(_ store: SQLiteStore, _ schema: String) throws -> Bool {
    switch try store.status(target: schema) {
    case .same:
        return false
    case .missing, .migratable:
        return try store.migrateStaged(backupExtension: "bak") { copy in
            try SchemaPlan(from: copy, to: schema).apply(copy)
        }
    case .undecided(let questions):
        throw Unanswered(questions: questions)
    case .damaged(let error), .newer(let error), .busy(let error),
        .unreachable(let error):
        throw error
    }
}

struct Unanswered: Error { let questions: [SchemaPlan.Question] }

struct Showing {
    let show: (Int, Int) -> Void
    let isCancelled: () -> Bool

    private func show(_ done: Int, of total: Int) { show(done, total) }

    func migrate(_ store: SQLiteStore, _ migrator: SQLiteMigrator) throws {
        try store.migrateStaged { progress in
            show(progress.completedPages, of: progress.totalPages)
            return isCancelled() ? .cancel : .continue
        } body: { copy in
            try migrator.migrate(copy)
        }
    }
}

func opening(_ path: String, report: (SQLError?, String) -> Void) throws -> SQLiteConnection {
    let db = try SQLiteStore(path: path).open { aside in
        report(aside.error, aside.path)
        let backup = aside.storePath + ".bak"
        if FileManager.default.fileExists(atPath: backup) {
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

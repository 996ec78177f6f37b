import AppMigrationsSQLite
import Foundation

// The samples of "Replacing a store" and "When a database is damaged", as they stand there.

func replacing(_ path: String, _ schema: String, _ migrator: SQLMigrator<SQLiteConnection>) throws -> Bool {
    let store = SQLiteStore(path: path)
    switch try store.status(target: schema) {
    case .same, .noStore:
        return false
    case .inferred, .specific:
        return try store.migrateStaged(backupExtension: "bak") { copy in
            try migrator.migrate(copy)
            try copy.query("VACUUM")
        }
    case .damaged(let error), .newer(let error), .busy(let error), .unreachable(let error):
        throw error
    }
}

struct Showing {
    let show: (Int, Int) -> Void
    let isCancelled: () -> Bool

    private func show(_ done: Int, of total: Int) { show(done, total) }

    func migrate(_ store: SQLiteStore, _ migrator: SQLMigrator<SQLiteConnection>) throws {
        try store.migrateStaged(swap: .rename) { progress in
            show(progress.completedPages, of: progress.totalPages)
            return isCancelled() ? .cancel : .goOn
        } body: { copy in
            try migrator.migrate(copy)
        }
    }
}

func opening(_ path: String, report: (SQLError?, String) -> Void) throws -> SQLiteConnection {
    let db = try SQLiteStore(path: path).open { aside in
        report(aside.error, aside.path)
        if FileManager.default.fileExists(atPath: path + ".bak") {
            try FileManager.default.copyItem(atPath: path + ".bak", toPath: path)
        }
    }
    return db
}

func checking(_ store: SQLiteStore, _ schema: String, report: (SQLError?, String) -> Void) throws {
    let status = try store.status(target: schema, check: .quick)
    if case .damaged(let error) = status {
        let aside = try store.setAside(check: .quick)
        report(error, aside.path)
    }
}

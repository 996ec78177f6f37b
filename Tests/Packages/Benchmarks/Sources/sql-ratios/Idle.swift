import AppMigrationsSQLite
import CMeasure
import CSQLiteMeasure
import Foundation
import GRDB
import Measuring

/// GRDB has the name `SQLiteConnection`, too.
typealias Connection = AppMigrationsSQLite.SQLiteConnection

enum IdleError: Error {
    case wrongCount
    case pending
    case unknownKind(String)
}

/// A database to which every migration has been applied, by us and by GRDB.
struct IdleDatabase {
    let path: String
    let count: Int

    var scripts: [String] { ["CREATE TABLE note(x)"] + (1..<count).map { "INSERT INTO note VALUES (\($0))" } }

    func prepare() throws {
        try SQLMigrator<Connection>(SQLMigration.numbered(scripts)).migrate(Connection(path: path))
        let queue = try DatabaseQueue(path: path)
        try grdb.migrate(queue)
        try queue.close()
    }

    private var grdb: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for number in 1...count { migrator.registerMigration("\(number)") { _ in } }
        return migrator
    }

    /// The nanoseconds of one check that finds nothing to do, from opening the database to closing it.
    func check(_ kind: String) throws -> Double {
        let migrations = SQLMigration<Connection>.numbered(scripts)
        _ = measure_now()
        let began = measure_now()
        switch kind {
        case "ours":
            let db = try Connection(path: path)
            if try !SQLMigrator(migrations).migrate(db).applied.isEmpty { throw IdleError.pending }
            db.close()
        case "grdb":
            let queue = try DatabaseQueue(path: path)
            try grdb.migrate(queue)
            try queue.close()
        case "c":
            if measure_c_ledger(path) != Int64(count) { throw IdleError.wrongCount }
        default: throw IdleError.unknownKind(kind)
        }
        return Double(measure_now() - began)
    }
}

@MainActor func measureIdle() throws {
    let database = IdleDatabase(path: scratch + "/idle.sqlite", count: 200)
    try database.prepare()
    let warm = try pairedRatio(300, { try database.check("ours") }, { try database.check("c") })
    report.ratio("idle check, 200 migrations: time against reading the ledger in C", warm, atMost: 1.5)
    let old = IdleDatabase(path: scratch + "/old.sqlite", count: 5_000)
    try old.prepare()
    let many = try pairedRatio(50, { try old.check("ours") }, { try old.check("c") })
    report.ratio("the same, 5,000 migrations", many, atMost: 2.1)
    let child = { kind in [CommandLine.arguments[0], kind, database.path, "\(database.count)"] }
    let cold = try pairedRatio(100, { try inside(child("ours")) }, { try inside(child("c")) })
    report.ratio("the same, first call of a process", cold, atMost: 1.5)
    let faster = try pairedRatio(30, { try inside(child("grdb")) }, { try inside(child("ours")) })
    report.ratio("the same: times faster than GRDB's migrator", faster, atLeast: 3)
}

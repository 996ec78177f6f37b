import AppMigrationsSQLite
import CMeasure
import Measuring

/// A connection that is awaited, and the same one without: both hand over each statement to SQLite alike.
private struct Awaited: AsyncSQLConnection {
    let db: Connection

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try db.query(sql, arguments)
    }
}

private struct Blocking: SQLConnection {
    let db: Connection

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] { try db.query(sql, arguments) }
    func execute(script: String) throws { try db.execute(script: script) }
}

extension IdleDatabase {
    /// The nanoseconds of one check that finds nothing to do, from opening the database to closing it.
    fileprivate func awaited() async throws -> Double {
        let migrations = SQLMigration<Awaited>.numbered(scripts)
        let began = measure_now()
        let db = try Connection(path: path)
        if try await !SQLMigrator(migrations).migrate(Awaited(db: db)).applied.isEmpty {
            throw IdleError.pending
        }
        db.close()
        return Double(measure_now() - began)
    }

    fileprivate func blocking() throws -> Double {
        let migrations = SQLMigration<Blocking>.numbered(scripts)
        let began = measure_now()
        let db = try Connection(path: path)
        if try !SQLMigrator(migrations).migrate(Blocking(db: db)).applied.isEmpty { throw IdleError.pending }
        db.close()
        return Double(measure_now() - began)
    }
}

@MainActor func measureAwaited() async throws {
    let database = IdleDatabase(path: scratch + "/awaited.sqlite", count: 200)
    try database.prepare()
    var ratios = [Double]()
    for pair in -2..<300 {
        let (left, right): (Double, Double)
        if pair % 2 == 0 {
            left = try await database.awaited()
            right = try database.blocking()
        } else {
            right = try database.blocking()
            left = try await database.awaited()
        }
        if pair >= 0 { ratios.append(left / right) }
    }
    report.ratio(
        "the same on a connection that is awaited: time against blocking",
        median(ratios),
        atMost: 1.1
    )
}

import AppMigrationsSQLite

func migrator(_ count: Int64, lockTimeout: Duration = .seconds(60)) throws -> SQLMigrator<SQLiteConnection> {
    let tables = (2...count).map { version in
        SQLMigration<SQLiteConnection>(version: version, name: "make_t\(version)") { db, _ in
            say("begin \(version)")
            try db.execute(script: "CREATE TABLE t\(version)(x)")
            say("made \(version)")
            try db.query("INSERT INTO t\(version) VALUES (?)", [.integer(version)])
            try db.query("INSERT INTO log VALUES (?)", [.integer(version)])
        }
    }
    let log = SQLMigration<SQLiteConnection>(
        version: 1,
        sql: "CREATE TABLE log(x); INSERT INTO log VALUES (1)"
    )
    return try SQLMigrator([log] + tables, lockTimeout: lockTimeout)
}

struct Half: Error {
    let version: SQLValue
}

/// Each migration is wholly there, once and in the ledger, or not at all.
func checkWholeness(of db: SQLiteConnection) throws {
    let ledger =
        try db.query("SELECT count(*) FROM sqlite_master WHERE name = 'schema_migrations'") == [[1]]
        ? try db.query("SELECT version FROM schema_migrations ORDER BY version") : []
    let log =
        try db.query("SELECT count(*) FROM sqlite_master WHERE name = 'log'") == [[1]]
        ? try db.query("SELECT x FROM log ORDER BY x") : []
    if ledger != log { throw Half(version: .null) }
    for version in ledger.map({ $0[0] }) where version != 1 {
        guard case .integer(let number) = version else { throw Half(version: version) }
        if try db.query("SELECT x FROM t\(number)") != [[version]] { throw Half(version: version) }
    }
    let made = try db.query("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 't%'")
    if made != [[.integer(Int64(max(0, ledger.count - 1)))]] { throw Half(version: .null) }
    if try db.query("PRAGMA integrity_check") != [["ok"]] { throw Half(version: .text("integrity")) }
}

// A process that migrates a database, for tests that start many of them and kill some.
//
// migrate <database> <count> <lock file>: waits until nobody holds the lock file, then runs the migrations.
// verify <database> <count>: finds a half migration, an error; finishes the run and checks all of it.
// store <command> <database> ...: see StoreCommands.swift.
//
// It prints a line at every point where a kill may be interesting.

import AppMigrationsSQLite

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    if write(1, bytes, bytes.count) != bytes.count { exit(3) }
}

func migrator(_ count: Int64) throws -> SQLMigrator<SQLiteConnection> {
    let tables = (2...count).map { version in
        SQLMigration<SQLiteConnection>(version: version, name: "make_t\(version)") { db in
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
    return try SQLMigrator([log] + tables)
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

let arguments = CommandLine.arguments
if arguments.count >= 4, arguments[1] == "store" {
    do { try StoreCommands(path: arguments[3]).run(arguments[2], Array(arguments[4...])) } catch {
        say("error: \(error)")
        exit(1)
    }
    exit(0)
}
guard arguments.count >= 4, let count = Int64(arguments[3]) else { exit(2) }
do {
    let db = try SQLiteConnection(path: arguments[2])
    switch arguments[1] {
    case "migrate":
        if arguments.count > 4 {
            let gate = open(arguments[4], O_RDONLY | O_CLOEXEC)
            if gate < 0 || flock(gate, LOCK_SH) != 0 { exit(2) }
        }
        let report = try migrator(count).migrate(db) {
            say("ready \($0.version)")
            return .goOn
        }
        say("applied \(report.applied.map(String.init).joined(separator: " "))")
    case "verify":
        try checkWholeness(of: db)
        try migrator(count).migrate(db)
        try checkWholeness(of: db)
        if try db.query("SELECT count(*) FROM log") != [[.integer(count)]] { throw Half(version: .null) }
        say("whole")
    default:
        exit(2)
    }
} catch {
    say("error: \(error)")
    exit(1)
}

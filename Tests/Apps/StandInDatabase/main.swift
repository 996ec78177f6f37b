// A process that migrates a database, for tests that start many of them and kill some.
//
// migrate <database> <count>: runs the migrations. With a third argument, the path of a lock file, it waits until
// nobody holds that; with a fourth, so many milliseconds are the wait for the database's lock.
// verify <database> <count>: finds a half migration, an error; finishes the run and checks all of it.
// store <command> <database> ...: see StoreCommands.swift.
// once <database> <count> <state directory>: closures of a runner, each in a transaction of the database.
// verify-once: the same check for these.
// batches <database> <count> <state directory>: a closure of a runner in so many batches; verify-batches: the check.
// make-old <database> 0, rebuild and verify-rebuild: a table rebuilt with all that depends on it.
// make-interrupted <database> 0, recover-table and verify-recover-table: a table of which a copy by hand was interrupted.
// hold <database> <count>: takes the write lock, says so, and keeps it until its input ends.
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

func waitForGate(_ path: String) {
    let gate = open(path, O_RDONLY | O_CLOEXEC)
    if gate < 0 || flock(gate, LOCK_SH) != 0 { exit(2) }
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
    switch (arguments[1], arguments.dropFirst(4).first) {
    case ("migrate", let gate):
        if let gate { waitForGate(gate) }
        let wait = arguments.dropFirst(5).first.flatMap { Int($0) } ?? 60_000
        let report = try migrator(count, lockTimeout: .milliseconds(wait)).migrate(db) {
            say("ready \($0.version)")
            return .continue
        }
        say("applied \(report.applied.map(String.init).joined(separator: " "))")
    case ("verify", _):
        try checkWholeness(of: db)
        try migrator(count).migrate(db)
        try checkWholeness(of: db)
        if try db.query("SELECT count(*) FROM log") != [[.integer(count)]] { throw Half(version: .null) }
        say("whole")
    case ("once", let folder?):
        try runOnce(count, in: db, stateDirectory: folder)
    case ("verify-once", let folder?):
        try checkOnce(in: db)
        try runOnce(count, in: db, stateDirectory: folder)
        try checkOnce(in: db)
        if try db.query("SELECT count(*) FROM once") != [[.integer(count)]] { throw Half(version: .null) }
        say("whole")
    case ("batches", let folder?):
        try runBatches(count, in: db, stateDirectory: folder)
    case ("verify-batches", let folder?):
        try checkBatches(count, in: db)
        try runBatches(count, in: db, stateDirectory: folder)
        try checkBatches(count, in: db)
        if try db.query("SELECT count(*) FROM once") != [[.integer(count)]] { throw Half(version: .null) }
        say("whole")
    case ("make-old", _):
        try makeOld(db)
    case ("rebuild", _):
        try runRebuild(of: db)
    case ("verify-rebuild", _):
        try checkRebuild(of: db)
        try runRebuild(of: db)
        try checkRebuild(of: db)
        say("whole")
    case ("make-interrupted", _):
        try makeInterruptedCopy(in: db)
    case ("recover-table", _):
        try recoverTable(in: db)
    case ("verify-recover-table", _):
        try checkRecovery(in: db)
        try recoverTable(in: db)
        try checkRecovery(in: db, isDone: true)
        say("whole")
    case ("hold", _):
        try db.transaction {
            say("held")
            var byte: UInt8 = 0
            while read(0, &byte, 1) > 0 {}
        }
    default:
        exit(2)
    }
} catch {
    say("error: \(error)")
    exit(1)
}

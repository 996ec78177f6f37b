import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite

/// A connection holds its own lock while it calls nothing of SQLite, which may have to wait for another thread.
///
/// A slip would hang, so a process of its own runs each test, and is killed after a minute.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct SQLiteConnectionLockTests {
    @Test func `a statement that waits for a database's lock goes on while another thread begins a script`()
        async
    {
        await #expect(processExitsWith: .success) {
            alarm(60)
            try withDatabase { path in
                let holder = try SQLiteConnection(path: path)
                try holder.query("CREATE TABLE a(x)")
                try holder.query("BEGIN IMMEDIATE")
                let connection = try SQLiteConnection(path: path, busyTimeout: .seconds(600))
                try connection.query("BEGIN")
                let ended = DispatchGroup()
                let failures = Guarded([String]())
                func onThread(_ body: @escaping @Sendable () throws -> Void) {
                    ended.enter()
                    Thread.detachNewThread {
                        do { try body() } catch { failures.withLock { $0.append("\(error)") } }
                        ended.leave()
                    }
                }
                onThread { try connection.query("INSERT INTO a VALUES (1)") }
                while connection.state.withLock({ $0.waitingSince }) == .zero { sched_yield() }
                let hasBegun = Guarded(false)
                onThread {
                    hasBegun.withLock { $0 = true }
                    try connection.execute(script: "INSERT INTO a VALUES (2);")
                }
                while !hasBegun.withLock({ $0 }) { sched_yield() }
                // The script waits for the statement by now, or will.
                for _ in 0..<10_000 { sched_yield() }
                try holder.query("COMMIT")
                ended.wait()
                #expect(failures.withLock { $0 } == [])
                try connection.query("COMMIT")
                #expect(try holder.query("SELECT count(*) FROM a") == [[2]])
            }
        }
    }

    @Test func `a connection that is closed while it is used is closed after that use`() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            try withDatabase { path in
                let other = try SQLiteConnection(path: path, busyTimeout: .zero)
                let connection = try SQLiteConnection(path: path)
                try connection.query("BEGIN IMMEDIATE")
                connection.unlessClosed {
                    connection.close()
                    #expect(throws: SQLError.self) { try connection.query("SELECT 1") }
                    #expect(throws: SQLError.self) { try other.query("BEGIN IMMEDIATE") }
                }
                // A transaction that is open ends with its connection.
                try other.query("BEGIN IMMEDIATE")
                connection.unlessClosed { Issue.record("It is closed.") }
                connection.close()
            }
        }
    }
}

/// Gives `body` the path of a database in a folder of its own.
private func withDatabase(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
    }
    try body(folder.appending(path: "db").path)
}

import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// The lock beside a store, which one process or thread has at a time.
@Suite(.temporaryDirectory, .serialized, .timeLimit(.minutes(1))) struct StoreLockTests {
    let folder = TemporaryDirectory.current.path

    private var files: StoreFiles { get throws { try StoreFiles(of: folder + "/store") } }

    @Test func `a lock whose file was removed guards nothing, and is taken anew`() throws {
        let files = try files
        var waiting: Int32 = -1
        var isLocked = true
        defer { Platform.unlock(waiting) }
        try files.holdingLock(wait: .zero, success: { _ in nil }) { () throws(SQLError) in
            try SQLError.ofFile(files.lock, "") { path in
                waiting = try Platform.openLock(path)
                isLocked = try StoreFiles.lock(waiting, openedAt: path)
            }
        }
        #expect(!isLocked)
        // The holder has removed the file. Whoever has opened it before can lock it, and has nothing.
        #expect(try !StoreFiles.lock(waiting, openedAt: files.lock))
        var isHeld = false
        try files.holdingLock(wait: .zero, success: { _ in nil }) { () throws(SQLError) in
            isHeld = try StoreFiles.status(files.lock) != nil
        }
        #expect(isHeld)
        #expect(try StoreFiles.status(files.lock) == nil)
    }

    @Test func `of a crowd one has the lock at a time`() throws {
        let files = try files
        let counts = Guarded((inside: 0, highest: 0, taken: 0))
        let errors = Log()
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<4 {
            Thread.detachNewThread {
                for _ in 0..<500 {
                    do throws(SQLError) {
                        try files.holdingLock(wait: .seconds(60), success: { _ in nil }) {
                            () throws(SQLError) in
                            counts.withLock { counts in
                                counts.inside += 1
                                counts.taken += 1
                                counts.highest = max(counts.highest, counts.inside)
                            }
                            sched_yield()
                            counts.withLock { $0.inside -= 1 }
                        }
                    } catch { errors.add("\(error)") }
                }
                ended.signal()
            }
        }
        for _ in 0..<4 { ended.wait() }
        #expect(errors.lines == [])
        #expect(counts.withLock { $0.highest } == 1)
        #expect(counts.withLock { $0.taken } == 2_000)
    }

    @Test func `a store is looked at without the lock, and its journal is played back with it`() throws {
        let (store, files) = (SQLiteStore(path: folder + "/store"), try files)
        try Wreck.makeStore(folder + "/living")
        let living = try SQLiteConnection(path: folder + "/living")
        // Little memory, so that half of the transaction is in the file.
        try living.query("PRAGMA cache_size = 1")
        try living.query("BEGIN")
        try living.query("UPDATE note SET body = 'half'")
        for ending in ["", "-journal"] {
            try Wreck.bytes(folder + "/living" + ending).write(to: URL(filePath: store.path + ending))
        }
        living.close()
        // Another process renames a store at this name, or puts one there, and the journal may be that one's.
        let lock = try Platform.openLock(files.lock)
        try #require(try Platform.tryLock(lock))
        let before = try contents(of: folder)
        let error = try sqlError { try store.open(busyTimeout: .inVain) { _ in Issue.record("set aside") } }
        #expect(error.code == .busy)
        #expect(try contents(of: folder) == before)
        Platform.unlock(lock)
        let db = try store.open { _ in Issue.record("set aside") }
        #expect(try db.query("SELECT count(*) FROM note WHERE body = 'half'") == [[0]])
        #expect(try db.query("SELECT count(*) FROM note") == [[500]])
    }
}

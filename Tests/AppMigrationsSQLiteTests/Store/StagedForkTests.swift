import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

/// A body makes a child by `fork`, which has a copy of its parent's descriptors.
@Suite struct StagedForkTests {
    @Test func `a child that outlives its killed parent doesn't hold the store's lock`() async throws {
        try await withTemporaryFolder { folder async throws in
            let store = SQLiteStore(path: folder + "/store")
            try SQLiteConnection(path: store.path).query("CREATE TABLE a(x)")
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder as String] in
                try SQLiteStore(path: path + "/store").migrateStaged { _ in
                    if forkProcess() == 0 {
                        closeDescriptorsOfTheRunner(keeping: ".migrating-lock")
                        try write("\(getpid())", to: path + "/child")
                        // Until the test kills it.
                        while true { pause() }
                    }
                    while access(path + "/child", F_OK) != 0 { sched_yield() }
                    kill(getpid(), SIGKILL)
                }
            }
            #expect(try store.migrateStaged(lockTimeout: .zero) { try $0.query("CREATE TABLE b(x)") })
            let child = try #require(pid_t(try String(contentsOfFile: folder + "/child", encoding: .utf8)))
            #expect(kill(child, SIGKILL) == 0)
        }
    }
}

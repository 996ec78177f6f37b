import AppMigrationsSQLite
import Foundation
import Testing

/// The thread of its own on which the rules of a connection run that is awaited.
@Suite struct AwaitedRulesTests {
    @TaskLocal static var place = "nowhere"

    @Test func `a closure finds the local values of its task`() async throws {
        let migration = AwaitedMigration(version: 1) { _ in #expect(Self.place == "here") }
        let db = AwaitedConnection(try memory())
        let migrator = try AwaitedMigrator([migration])
        let report = try await Self.$place.withValue("here") { try await migrator.migrate(db) }
        #expect(report.applied == [1])
    }

    #if os(Linux)
    @Test func `a thousand calls at once end, and leave no thread`() async {
        await #expect(processExitsWith: .success) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1_000 {
                    group.addTask {
                        let migrator = try AwaitedMigrator(SQLMigration.numbered(["CREATE TABLE a(x)"]))
                        try #require(try await migrator.migrate(AwaitedConnection(memory())).applied == [1])
                    }
                }
                try await group.waitForAll()
            }
            // A thread ends a moment after its call; what stays are those of the process itself.
            while try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count > 16 {
                await Task.yield()
            }
        }
    }
    #endif
}

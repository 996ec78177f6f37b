import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite

/// The checkpoints of batches in the state file.
@Suite(.temporaryDirectory) struct BatchesCheckpointTests {
    let library: Library

    init() throws { library = try Library() }

    @Test func `a process that dies after its first batch came further, however often`() async throws {
        for _ in 0..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = library.folder as String] in
                let library = try Library(opening: folder)
                var batches = 0
                try library.count(to: 4, in: library.db, manager: library.manager(attemptLimit: 2)) { _ in
                    batches += 1
                    if batches == 2 { kill(getpid(), SIGKILL) }
                }
            }
        }
        try library.count(to: 4, in: library.db, manager: library.manager(attemptLimit: 2))
        #expect(try library.log == [["1"], ["2"], ["3"], ["4"]])
        #expect(try library.manager().manager.status.history.map(\.attemptCount) == [4])
    }

    @Test func `a process that dies between a commit and its checkpoint came further, however often`()
        async throws
    {
        for _ in 0..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = library.folder as String] in
                let library = try Library(opening: folder)
                let db = DyingConnection(library.db, statement: "COMMIT")
                try library.count(to: 4, in: db, manager: library.manager(attemptLimit: 2))
            }
        }
        try library.count(to: 4, in: library.db, manager: library.manager(attemptLimit: 2))
        #expect(try library.log.count == 4)
    }

    @Test func `a process that dies in its first batch each time is refused in the end`() async throws {
        for _ in 0..<2 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = library.folder as String] in
                let library = try Library(opening: folder)
                try library.count(to: 4, in: library.db, manager: library.manager(attemptLimit: 2)) { _ in
                    kill(getpid(), SIGKILL)
                }
            }
        }
        let error = #expect(throws: MigrationError.self) {
            try library.count(to: 4, in: library.db, manager: library.manager(attemptLimit: 2))
        }
        #expect(error?.code == .attemptLimitReached)
    }

    @Test func `the first batch and each tenth of the work are saved, and all are told`() throws {
        let told = Guarded(0)
        let saved = Guarded(Set<String>())
        let state = URL(filePath: library.folder + "/Library.migrations.json")
        let manager = try library.manager { event in
            guard event.kind == .progressed else { return }
            told.withLock { $0 += 1 }
            #expect(throws: Never.self) {
                let text = try String(contentsOf: state, encoding: .utf8)
                let place = try #require(text.firstMatch(of: /"checkpoint" : (.*)/))
                saved.withLock { _ = $0.insert(String(place.output.1)) }
            }
        }
        try library.count(to: 200, in: library.db, manager: manager)
        #expect(told.withLock { $0 } == 199)
        #expect(saved.withLock { $0.count } == 10)
    }

    @Test func `a first progress that is not a number doesn't keep later cursors from being saved`() throws {
        let saved = Guarded([String]())
        let state = URL(filePath: library.folder + "/Library.migrations.json")
        let manager = try library.manager { event in
            guard event.kind == .progressed else { return }
            #expect(throws: Never.self) {
                let text = try String(contentsOf: state, encoding: .utf8)
                let checkpoint = try #require(text.firstMatch(of: /"checkpoint" : "([^"]*)"/))
                saved.withLock { $0.append(String(checkpoint.output.1)) }
            }
        }
        var progress = [Double.nan, 0.5].makeIterator()
        try manager.manager.whenMigrating(toVersion: "1.4", in: library.db) { _, batch, _ in
            guard let next = progress.next() else { return .done }
            return .continue(at: (try batch.cursor(as: Int.self) ?? 0) + 1, progress: next)
        }
        #expect(saved.withLock { $0 } == ["1", "2"])
    }
}

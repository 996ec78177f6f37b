import AppMigrations
import Foundation
import Testing

@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct ContentionTests {
    let scratch = TemporaryDirectory.current

    static let versions = ["1.1", "1.1-1", "1.2", "1.3"]

    @Test func `sixteen threads with a manager each run every migration once and in order`() throws {
        let log = Log()
        let failures = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            do {
                let manager = try scratch.manager(upgradingTo: "1.3")
                for version in Self.versions {
                    try manager.whenMigrating(toVersion: version) { log.add(version) }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(log.lines == Self.versions)
        #expect(
            try scratch.manager(upgradingTo: "1.3").status.history.map(\.version.description) == Self.versions
        )
    }

    @Test func `sixteen threads on one manager run the migration once and the others are refused`() throws {
        let log = Log()
        let manager = try scratch.manager(upgradingTo: "1.3")
        let codes = Guarded<[MigrationError.Code]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            do throws(MigrationError) {
                try manager.whenMigrating(toVersion: "1.1") { log.add("1.1") }
            } catch {
                codes.withLock { $0.append(error.code) }
            }
        }
        #expect(log.lines == ["1.1"])
        let refused = codes.withLock { $0 }
        #expect(refused.count == 15)
        // A thread that declares the version after it ran closes the manager.
        #expect(refused.filter { $0 == .declaredOutOfOrder }.count <= 1)
        #expect(Set(refused).isSubset(of: [.nested, .declaredOutOfOrder, .managerClosed]))
        #expect(try !scratch.manager(upgradingTo: "1.3").whenMigrating(toVersion: "1.1") { log.add("1.1") })
    }

    @Test func `fifteen threads that use a manager while its closure runs close nothing`() throws {
        let manager = try scratch.manager(upgradingTo: "1.3")
        let codes = Guarded<[MigrationError.Code?]>([])
        try manager.whenMigrating(toVersion: "1.1") {
            DispatchQueue.concurrentPerform(iterations: 15) { number in
                var code: MigrationError.Code?
                do throws(MigrationError) {
                    try manager.whenMigrating(toVersion: Self.versions[number % 4]) {}
                } catch {
                    code = error.code
                }
                codes.withLock { $0.append(code) }
            }
        }
        #expect(codes.withLock { $0 } == Array(repeating: .nested, count: 15))
        #expect(try manager.declare("1.1-1", "1.2", "1.3") == ["1.1-1", "1.2", "1.3"])
    }

    @Test func `sixty four tasks with a manager each run every migration once and in order`() async throws {
        let log = Log()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let manager = try scratch.manager(upgradingTo: "1.3")
                    for version in Self.versions {
                        try await manager.whenMigrating(toVersion: version) {
                            await Task.yield()
                            log.add(version)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(log.lines == Self.versions)
    }

    @Test func `sixty four tasks on one manager run the migration once`() async throws {
        let log = Log()
        let manager = try scratch.manager(upgradingTo: "1.3")
        let codes = await withTaskGroup(of: MigrationError.Code?.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    do throws(MigrationError) {
                        try await manager.whenMigrating(toVersion: "1.1") {
                            await Task.yield()
                            log.add("1.1")
                        }
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(log.lines == ["1.1"])
        #expect(codes.filter { $0 == nil }.count == 1)
        #expect(codes.filter { $0 == .declaredOutOfOrder }.count <= 1)
        #expect(Set(codes).isSubset(of: [nil, .nested, .declaredOutOfOrder, .managerClosed]))
    }

    @Test(arguments: [MigrationManager.FirstRun.everything, .existingData(at: "1.0")])
    func `eight processes at once run every migration once and all end well`(
        firstRun: MigrationManager.FirstRun
    ) async throws {
        let isEverything = if case .everything = firstRun { true } else { false }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { await Self.expectProcess(scratch.path, isEverything) } }
        }
        let lines = try scratch.read("trace").split(separator: "\n").map(String.init)
        #expect(lines == Self.versions.map { "\($0) 1" })
        #expect(
            try scratch.manager(upgradingTo: "1.3").status.history.map(\.version.description) == Self.versions
        )
    }

    private static func expectProcess(_ path: String, _ isEverything: Bool) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, isEverything = isEverything as Bool] in
            let manager = try library(
                "1.3",
                in: path + "/state",
                firstRun: isEverything ? .everything : .existingData(at: "1.0")
            )
            for version in Self.versions {
                try manager.whenMigrating(toVersion: version) { context in
                    try append("\(version) \(context.attempt)", to: path + "/trace")
                }
            }
        }
    }
}

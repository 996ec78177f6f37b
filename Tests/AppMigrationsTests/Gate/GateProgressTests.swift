import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct GateProgressTests {
    let folder = TemporaryDirectory.current.path

    @Test func `the fraction begins at nothing, never falls, and ends at one`() async throws {
        try Data("old".utf8).write(to: URL(filePath: folder + "/notes"))
        let seen = Log()
        let gate = MigrationGate { start in
            let options = start.options(.init { _ in seen.add(start.gate.state.text) })
            let library = try manager("1.3", in: folder, options, named: "Library")
            let search = try manager("1.3", in: folder, options, named: "Search")
            try start.migrate(library) {
                try $0.whenMigrating(toVersion: "1.1") { $0.reportProgress(0.5, note: "half") }
                try $0.whenMigrating(toVersion: "1.2") { $0.reportProgress(0.5) }
            }
            try start.migrate(search) { try $0.whenMigrating(toVersion: "1.3") {} }
            start.step("Files") {
                start.reportProgress(0.5)
                seen.add(start.gate.state.text)
            }
            seen.add(start.gate.state.text)
        }
        try await gate.ready()
        let fractions = seen.lines.compactMap { Double($0.split(separator: " ").dropFirst().first ?? "") }
        #expect(fractions == fractions.sorted(), "\(seen.lines)")
        #expect(fractions.first == 0 && fractions.last == 1, "\(seen.lines)")
        #expect(seen.lines.contains("migrating 0.25 half"), "\(seen.lines)")
        #expect(!seen.lines.contains { $0.contains(folder) }, "\(seen.lines)")
    }

    @Test func `a step that a plan has named has its part of the bar from the beginning`() async throws {
        let seen = Log()
        let gate = MigrationGate { start in
            let library = try manager("1.3", in: folder, start.options(), named: "Library")
            try start.migrate(library, weights: ["1.3": 2, "Search index": 4, "Thumbnails": 2]) {
                try $0.whenMigrating(toVersion: "1.3") { _ in }
            }
            seen.add(start.gate.state.text)
            let count = start.step("Search index") {
                seen.add(start.gate.state.text)
                start.reportProgress(0.5)
                seen.add(start.gate.state.text)
                return 7
            }
            seen.add(start.gate.state.text + "\(count)")
            await start.step("Thumbnails") {
                await Task.yield()
                start.reportProgress(0.5, note: "a.png")
                seen.add(start.gate.state.text)
            }
            seen.add(start.gate.state.text)
        }
        try await gate.ready()
        #expect(
            seen.lines == [
                "migrating 0.25 ", "migrating 0.25 Search index", "migrating 0.5 Search index",
                "migrating 0.75 7", "migrating 0.875 a.png", "migrating 1.0 ",
            ]
        )
    }

    @Test func `a step that no plan has named shares what is left of the bar with the pending migrations`()
        async throws
    {
        let seen = Log()
        let gate = MigrationGate { start in
            let library = try manager("1.3", in: folder, start.options(), named: "Library")
            func declare(_ migrations: MigrationManager) throws {
                try migrations.whenMigrating(toVersion: "1.2") { _ in }
                try migrations.whenMigrating(toVersion: "1.3") { _ in }
            }
            try start.plan(library, declare)
            start.step("First") {}
            seen.add(start.gate.state.text)
            try declare(library)
            seen.add(start.gate.state.text)
            start.step("Last") { start.reportProgress(0.1) }
            seen.add(start.gate.state.text)
        }
        try await gate.ready()
        #expect(seen.lines == ["migrating \(1.0 / 3) ", "migrating 1.0 ", "migrating 1.0 "])
    }

    @Test func `a step that throws leaves the bar where it was, and the next one goes on from there`()
        async throws
    {
        let seen = Log()
        let gate = MigrationGate { start in
            try? start.step("Search index") {
                start.reportProgress(0.5)
                throw Refused()
            }
            seen.add(start.gate.state.text)
            start.step("Thumbnails") { start.reportProgress(0.1) }
            seen.add(start.gate.state.text)
            await #expect(throws: Refused.self) {
                try await start.step("Late") {
                    await Task.yield()
                    throw Refused()
                }
            }
            seen.add(start.gate.state.text)
        }
        try await gate.ready()
        #expect(
            seen.lines == ["migrating 0.5 Search index", "migrating 0.75 ", "migrating 0.75 Late"]
        )
    }

    @Test func `a long migration has the part of the bar that its weight gives it`() async throws {
        let seen = Log()
        let gate = MigrationGate { start in
            let options = start.options(.init { _ in seen.add(start.gate.state.text) })
            let library = try manager("1.3", in: folder, options, named: "Library")
            let search = try manager("1.3", in: folder, options, named: "Search")
            func declare(_ migrations: MigrationManager) throws {
                try migrations.whenMigrating(toVersion: "1.2") { $0.reportProgress(0.5) }
                try migrations.whenMigrating(toVersion: "1.3") {}
            }
            try start.plan(library, weights: ["1.2.0": 5, "1.9": 30], declare)
            try start.plan(search, declare)
            seen.add(start.gate.state.text)
            try declare(search)
            try declare(library)
        }
        try await gate.ready()
        let fractions = seen.lines.compactMap { Double($0.split(separator: " ").dropFirst().first ?? "") }
        #expect(Set(fractions).sorted() == [0, 0.0625, 0.125, 0.25, 0.5625, 0.875, 1, 4])
        #expect(seen.lines.contains("planning 4"), "\(seen.lines)")
    }

    @Test func `a bar goes on where the last checkpoint was`() async throws {
        let seen = Log()
        let gate = MigrationGate { start in
            let options = start.options(.init { _ in seen.add(start.gate.state.text) })
            try start.migrate(manager("1.3", in: folder, options)) {
                try $0.whenMigrating(toVersion: "1.2") { context in
                    guard context.isRetry else {
                        start.gate.cancel()
                        return try context.saveCheckpoint(1, progress: 0.75)
                    }
                }
            }
        }
        await #expect(throws: MigrationError.self) { try await gate.ready() }
        gate.retry()
        try await gate.ready()
        #expect(seen.lines == ["0.0", "0.75", "0.75", "0.75", "1.0"].map { "migrating \($0) " })
    }

    @Test func `a weight of no version is refused before anything runs`() async throws {
        let gate = MigrationGate { start in
            let library = try manager("1.3", in: folder, start.options(), named: "Library")
            try start.migrate(library, weights: ["1,2": 5]) {
                try $0.whenMigrating(toVersion: "1.2") { Issue.record("it ran") }
            }
        }
        let error = await #expect(throws: MigrationError.self) { try await gate.ready() }
        #expect(error?.code == .invalidVersion)
    }

    @Test func `no manager migrates where the plan of a later one refuses`() async throws {
        let gate = MigrationGate { start in
            let settings = try manager("1.0", in: folder, start.options(), named: "Settings")
            let cache = try manager("1.0", in: folder, start.options(), named: "Cache")
            func declareSettings(_ migrations: MigrationManager) throws {
                try migrations.whenMigrating(toVersion: "0.9") { Issue.record("It ran.") }
            }
            try start.plan(settings, declareSettings)
            try start.plan(cache) { try $0.whenMigrating(toVersion: "1.1") {} }
            try declareSettings(settings)
        }
        let error = await #expect(throws: MigrationError.self) { try await gate.ready() }
        #expect(error?.code == .newerThanCurrentVersion && error?.managerName == "Cache")
    }

    @Test func `what is told after the end of a try, or by another one, changes nothing`() async throws {
        let told = Guarded([MigrationGate.Attempt]())
        let contexts = Guarded([MigrationContext]())
        let events = Guarded(0)
        let gate = MigrationGate { start in
            told.withLock { $0.append(start) }
            if !start.isRetry { throw Refused() }
            told.withLock { $0[0] }.reportProgress(0.9)
            guard case .planning = start.gate.state else { throw Refused() }
            let manager = try manager("1.0", in: folder, .init { _ in events.withLock { $0 += 1 } })
            try manager.whenMigrating(toVersion: "1.0") { context in contexts.withLock { $0 = [context] } }
        }
        await #expect(throws: Refused.self) { try await gate.ready() }
        told.withLock { $0[0] }.step("Late") {}
        guard case .failed = gate.state else { throw Refused() }
        gate.retry()
        try await gate.ready()
        for start in told.withLock({ $0 }) { start.step("Late") {} }
        let count = events.withLock { $0 }
        contexts.withLock { $0[0] }.reportProgress(1)
        #expect(events.withLock { $0 } == count && count > 0)
        guard case .ready = gate.state else { throw Refused() }
        try await gate.ready()
        #expect(told.withLock { $0.count } == 2)
    }
}

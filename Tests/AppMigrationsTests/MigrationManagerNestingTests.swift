import AppMigrations
import Testing

@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct MigrationManagerNestingTests {
    let folder = TemporaryDirectory.current

    @Test func `the same manager inside its closure is nested, and goes on afterwards`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        try manager.whenMigrating(toVersion: "1.2") { () throws in
            for text in ["1.0", "1.1", "1.3", "1.5", "1.x"] {
                let error = try manager.refusal(of: text)
                #expect(error.code == .nested)
                #expect(error.description.contains("This call would wait for itself"))
            }
        }
        #expect(manager.lastRunVersion == version("1.2"))
        #expect(try manager.declare("1.3", "1.4") == ["1.3", "1.4"])
    }

    @Test func `a failed migration closes the manager, whatever was declared inside it`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.2") { () throws in
                _ = try manager.refusal(of: "1.3")
                throw Failure()
            }
        }
        #expect(error.code == .migrationFailed)
        #expect(try manager.refusal(of: "1.3").code == .managerClosed)
    }

    @Test func `an error of the inner call, passed on, fails the outer migration`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.2") { try manager.declare("1.3") }
        }
        #expect(error.code == .migrationFailed)
        #expect((error.underlyingError as? MigrationError)?.code == .nested)
        #expect(manager.lastRunVersion == version("1.1"))
    }

    @Test func `another manager of the same state inside a closure is nested, by another path too`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") {
            for path in [folder.path, folder.path + "/", folder.path + "/."] {
                let other = try library("1.4", in: path, firstRun: .freshInstall)
                #expect(try other.refusal(of: "1.3").code == .nested)
            }
        }
    }

    @Test func `managers of other states work inside a closure, and keep the outer one nested`() throws {
        let outer = try folder.manager("1.4", firstRun: .everything)
        let inner = try MigrationManager(
            named: "Preferences",
            currentVersion: "1",
            firstRun: .everything,
            stateDirectory: folder.path
        )
        try outer.whenMigrating(toVersion: "1.2") {
            try inner.whenMigrating(toVersion: "1") { () throws in
                #expect(try folder.manager("1.4").refusal(of: "1.3").code == .nested)
            }
        }
        #expect(outer.lastRunVersion == version("1.2"))
        #expect(inner.lastRunVersion == version("1"))
    }

    @Test func `a synchronous call while an asynchronous run has the lock is nested`() async throws {
        let manager = try folder.manager("1.4", after: "1.1")
        try await manager.whenMigrating(toVersion: "1.2") {
            // Detached: no token of the closure tells that it is inside.
            let other = try await Task.detached { try folder.manager("1.4").refusal(of: "1.3").code }
                .value
            #expect(other == .nested)
            let same = try await Task.detached { try manager.refusal(of: "1.3").code }.value
            #expect(same == .nested)
        }
        #expect(manager.lastRunVersion == version("1.2"))
    }

    @Test func `a task that outlives its closure is free again`() async throws {
        try folder.writeState(lastRun: "1.1")
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        var later: Task<[String], any Error>?
        try await folder.manager("1.4").whenMigrating(toVersion: "1.2") {
            later = Task {
                for await _ in gate { break }
                return try folder.manager("1.4").declare("1.3")
            }
            await Task.yield()
        }
        opener.yield()
        #expect(try await later?.value == ["1.3"])
    }

    @Test func `a task inside an asynchronous closure inherits its nesting`() async throws {
        try folder.writeState(lastRun: "1.1")
        try await folder.manager("1.4").whenMigrating(toVersion: "1.2") {
            let code = await Task {
                let error = await #expect(throws: MigrationError.self) {
                    try await folder.manager("1.4").whenMigrating(toVersion: "1.3") { await Task.yield() }
                }
                return error?.code
            }.value
            #expect(code == .nested)
        }
    }
}

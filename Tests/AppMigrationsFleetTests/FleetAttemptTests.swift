import AppMigrations
import AppMigrationsFleet
import Testing

/// Attempts, deaths and checkpoints across hosts.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetAttemptTests {
    let fleet = Fleet()

    /// Leaves what a host leaves that dies in a closure: the document as it stood in the middle.
    private func die(_ host: String, saving checkpoint: String? = nil) async throws {
        let document = Log()
        let code = try await takeOver(host) { _ in
        } _: { context in
            if let checkpoint { try await context.saveCheckpoint(checkpoint, progress: 0.5) }
            document.add(try #require(try await fleet.store.text()))
            throw TestStore.Failure()
        }
        #expect(code == .migrationFailed)
        try await fleet.store.put(try #require(document.lines.first))
    }

    /// Declares 1.1 on a host, and lets time pass until the lease of a dead one has run out.
    private func takeOver(
        _ host: String = "heir",
        _ change: (inout FleetMigrationManager.Options) -> Void = { _ in },
        _ body: @escaping @Sendable (FleetMigrationContext) async throws -> Void = { _ in }
    ) async throws -> MigrationError.Code? {
        let manager = try await fleet.host(host, change)
        return try await driving { try await manager.whenMigrating(toVersion: "1.1", run: body) }
    }

    /// Lets time pass until the call is over.
    private func driving(
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws -> MigrationError.Code? {
        let call = Call { await code(call) }
        try await fleet.pass { call.hasEnded }
        return try await call.value
    }

    @Test func `the attempt after a death knows that it is one`() async throws {
        try await die("a")
        let code = try await takeOver { _ in
        } _: { context in
            #expect(context.attempt == 2 && context.isRetry && context.fence == 2)
        }
        #expect(code == nil)
    }

    @Test func `as many deaths as the limit allows end it, until they are forgotten`() async throws {
        try await die("a")
        #expect(try await takeOver { $0.attemptLimit = 1 } == .attemptLimitReached)
        let manager = try await fleet.host("b")
        #expect(try await driving { try await manager.resetAttempts() } == nil)
        #expect(try await takeOver { $0.attemptLimit = 1 } == nil)
    }

    @Test func `the next attempt goes on at the checkpoint, and deaths are counted from there`() async throws
    {
        try await die("a")
        try await die("b", saving: "kilo")
        let code = try await takeOver {
            $0.attemptLimit = 2
        } _: { context in
            #expect(context.checkpoint == "kilo")
            #expect(context.checkpointAppVersion == AppVersion("1.4"))
            let checkpoint = try context.checkpoint(as: String.self)
            #expect(checkpoint == "kilo")
            #expect(throws: MigrationError.self) { try context.checkpoint(as: Int.self) }
        }
        #expect(code == nil)
        let text = try #require(try await fleet.store.text())
        #expect(!text.contains("kilo"))
    }

    @Test func `a checkpoint is one write, and renews the lease`() async throws {
        let manager = try await fleet.host()
        try await manager.whenMigrating(toVersion: "1.1") { context in
            let writes = fleet.store.writes
            try await context.saveCheckpoint(7, progress: 0.25)
            #expect(fleet.store.writes == writes + 1)
            let text = try #require(try await fleet.store.text())
            #expect(text.contains(#""checkpoint" : "7", "checkpointAppVersion" : "1.4", "progress" : 0.25"#))
            #expect(text.contains(#""beat" : 1"#))
        }
    }

    @Test func `a checkpoint that is too long, or comes too late, is refused`() async throws {
        let manager = try await fleet.host()
        var kept: FleetMigrationContext?
        try await manager.whenMigrating(toVersion: "1.1") { context in
            kept = context
            let long = String(repeating: "x", count: 4_097)
            #expect(await code { try await context.saveCheckpoint(long) } == .checkpointNotSaved)
        }
        let context = try #require(kept)
        let text = try await fleet.store.text()
        #expect(await code { try await context.saveCheckpoint("late") } == .checkpointNotSaved)
        #expect(try await fleet.store.text() == text)
    }
}

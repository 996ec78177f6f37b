import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory) struct MigrationEventTests {
    let folder = TemporaryDirectory.current

    @Test func `a start sends its events in order`() throws {
        try folder.writeState(lastRun: "1.1")
        let log = Log()
        let manager = try folder.manager("1.4", options: log.options())
        try manager.declare("1.1")
        try manager.whenMigrating(toVersion: "1.2") { context in
            context.reportProgress(0.25, note: "notes")
            context.reportProgress(1)
            log.add("the closure returns")
        }
        _ = try manager.failure(of: "1.3")
        _ = try manager.refusal(of: "1.4")
        _ = try? folder.manager("1.4", options: log.options()).declare("1.3")
        #expect(
            log.lines == [
                "Library started 1.2 from 1.1 attempt 1",
                "Library progressed 1.2 from 1.1 attempt 1 0.25 (notes)",
                "Library progressed 1.2 from 1.1 attempt 1 1.0",
                "the closure returns",
                "Library finished 1.2 from 1.1 attempt 1 in time",
                "Library started 1.3 from 1.2 attempt 1",
                "Library failed 1.3 from 1.2 attempt 1 in time: migrationFailed",
                "Library started 1.3 from 1.2 attempt 2",
                "Library finished 1.3 from 1.2 attempt 2 in time",
            ]
        )
    }

    @Test func `a record that can't be saved is a failure`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let log = Log()
        let manager = try folder.manager("1.4", options: log.options())
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.2") { try folder.makeFolder(folder.obstacle) }
        }
        #expect(log.lines.last == "Library failed 1.2 from 1.1 attempt 1 in time: stateNotSaved")
    }

    @Test(
        arguments: [
            (-1, "0.0"), (0, "0.0"), (0.5, "0.5"), (1, "1.0"), (1.5, "1.0"), (.infinity, "1.0"),
            (-.infinity, "0.0"), (.nan, "0.0"),
        ] as [(Double, String)]
    )
    func `progress is a fraction from 0 to 1`(fraction: Double, shown: String) throws {
        let log = Log()
        let manager = try folder.manager("1.4", firstRun: .everything, options: log.options())
        try manager.whenMigrating(toVersion: "1.2") { context in context.reportProgress(fraction) }
        #expect(log.lines.dropFirst().first == "Library progressed 1.2 from 0 attempt 1 \(shown)")
    }

    @Test func `a handler may ask the manager that sends`() throws {
        try folder.writeState(lastRun: "1.1")
        let log = Log()
        let reader = try folder.manager("1.4")
        let options = MigrationManager.Options { event in
            do { log.add("\(event.kind) \(try reader.status.history.count)") } catch { log.add("\(error)") }
        }
        try folder.manager("1.4", options: options).declare("1.2")
        #expect(log.lines == ["started 0", "finished 1"])
    }

    @Test func `kinds have the names they have in Swift`() {
        let kinds: [MigrationEvent.Kind] = [.waiting, .started, .progressed, .finished, .failed]
        let names = "waiting started progressed finished failed"
        #expect(kinds.map(\.description).joined(separator: " ") == names)
        let plans: [PlannedMigration.Kind] = [
            .willRun, .alreadyRun, .baseline, .missed, .refused,
        ]
        #expect(
            plans.map(\.description) == [
                "willRun", "alreadyRun", "baseline", "missed", "refused",
            ]
        )
    }
}

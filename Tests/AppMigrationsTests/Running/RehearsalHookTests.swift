import Testing

@testable import AppMigrations

/// The moments of a start that a rehearsal is told of.
@Suite struct RehearsalHookTests {
    @Test func `each moment is told with its place and version, a failed synchronize not`() throws {
        try withTemporaryDirectory { scratch throws in
            let reached = Guarded<[ObservedMoment]>([])
            let hook = Rehearsal(reached: { moment in reached.withLock { $0.append(moment) } })
            let manager = try scratch.manager(upgradingTo: "1.2")
            let migrations = MigrationManager(rehearsing: manager, observedBy: hook)
            try migrations.whenMigrating(toVersion: "1.1") { try $0.synchronize([scratch.path]) }
            try migrations.whenMigrating(toVersion: "1.2") { context in
                #expect(throws: MigrationError.self) { try context.synchronize([scratch.file("nothing")]) }
                try context.synchronize([scratch.path, scratch.path])
            }
            typealias Place = ObservedMoment.Place
            let places: [Place] = [
                .beforeAttempt, .beforeClosure, .afterSynchronize, .beforeRecord, .afterRecord,
            ]
            let expected = ["1.1", "1.2"].flatMap { text in
                places.map { ObservedMoment(place: $0, version: version(text)) }
            }
            #expect(reached.withLock { $0 } == expected)
        }
    }
}

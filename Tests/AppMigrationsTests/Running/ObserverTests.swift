import Testing

@testable import AppMigrations

/// The moments of a start that a rehearsal is told of, and what it may answer.
@Suite(.temporaryDirectory) struct ObserverTests {
    let scratch = TemporaryDirectory.current

    @Test func `each moment is told with its place and version, a failed synchronize not`() throws {
        let observed = Guarded<[ObservedMoment]>([])
        let observer = Observer { moment in
            observed.withLock { $0.append(moment) }
            return .continue
        }
        let manager = try scratch.manager(upgradingTo: "1.3")
        var migrations = MigrationManager(rehearsing: manager, observedBy: observer)
        try migrations.whenMigrating(toVersion: "1.1") { context in
            try context.synchronize([scratch.path])
            try context.saveCheckpoint("half")
        }
        try migrations.whenMigrating(toVersion: "1.2") { context in
            #expect(throws: MigrationError.self) { try context.synchronize([scratch.file("nothing")]) }
            try context.synchronize([scratch.path, scratch.path])
        }
        migrations = MigrationManager(rehearsing: manager, observedBy: observer)
        try migrations.declare("1.1.5", addedIn: "1.3")
        typealias Place = ObservedMoment.Place
        let begun: [Place] = [.beforeAttempt, .beforeClosure]
        let ended: [Place] = [.returned, .beforeRecord, .afterRecord]
        let checkpoint: [Place] = [.beforeCheckpoint, .afterCheckpoint]
        let first = [.declared(addedIn: nil)] + begun + [.afterSynchronize] + checkpoint + ended
        let second = [.declared(addedIn: nil)] + begun + [.afterSynchronize] + ended
        let third = [.declared(addedIn: version("1.3"))] + begun + ended
        let expected = [("1.1", first), ("1.2", second), ("1.1.5", third)].flatMap { text, places in
            places.map { ObservedMoment(place: $0, version: version(text)) }
        }
        #expect(observed.withLock { $0 } == expected)
    }

    @Test func `a declaration may be skipped, and a closure may be failed`() throws {
        let observer = Observer { moment in
            switch moment.place {
            case .declared where moment.version == version("1.1"): .skip
            case .returned: .fail(Failure())
            default: .continue
            }
        }
        let manager = try scratch.manager(upgradingTo: "1.3")
        let migrations = MigrationManager(rehearsing: manager, observedBy: observer)
        #expect(try migrations.declare("1.1") == [])
        let error = try #require(throws: MigrationError.self) {
            try migrations.whenMigrating(toVersion: "1.2") {}
        }
        #expect(error.code == .migrationFailed)
        #expect(error.underlyingError is Failure)
        #expect(try manager.status.latestAttempt?.failure == "The disk is full.")
    }

    @Test func `a release that doesn't have a version stops there`() throws {
        let observer = Observer { moment in
            if case .declared = moment.place, moment.version == version("1.2") { return .stop }
            return .continue
        }
        let manager = try scratch.manager(upgradingTo: "1.3")
        let migrations = MigrationManager(rehearsing: manager, observedBy: observer)
        #expect(try migrations.declare("1.1") == ["1.1"])
        #expect(try migrations.refusal(of: "1.2").code == .newerThanCurrentVersion)
        #expect(try migrations.refusal(of: "1.3").code == .managerClosed)
    }
}

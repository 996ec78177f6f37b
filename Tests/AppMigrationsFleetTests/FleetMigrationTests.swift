import AppMigrations
import AppMigrationsFleet
import Testing

@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetMigrationTests {
    let fleet = Fleet()

    @Test func `what is declared runs once for the fleet, in order`() async throws {
        for host in ["a", "b", "c"] {
            let migrations = try await fleet.host(host)
            for version in ["1.1", "1.1-1", "1.4"] {
                let ran = try await migrations.whenMigrating(toVersion: version) {
                    fleet.log.add("\(host) runs \(version)")
                }
                #expect(ran == (host == "a"))
            }
            #expect(migrations.lastRunVersion == AppVersion("1.4"))
        }
        #expect(
            fleet.log.lines.filter { $0.contains("runs") } == ["a runs 1.1", "a runs 1.1-1", "a runs 1.4"]
        )
    }

    @Test func `a start with nothing pending reads the store once, and writes nothing`() async throws {
        try await fleet.host().whenMigrating(toVersion: "1.4") {}
        let (reads, writes) = (fleet.store.reads, fleet.store.writes)
        let migrations = try await fleet.host("b")
        for version in ["1.1", "1.4"] { #expect(try await !migrations.whenMigrating(toVersion: version) {}) }
        #expect(fleet.store.reads == reads + 1)
        #expect(fleet.store.writes == writes)
    }

    @Test func `a version that a hotfix brought runs once for the fleet, below the last-run version`()
        async throws
    {
        try await fleet.host().whenMigrating(toVersion: "1.4") {}
        for host in ["b", "c"] {
            let migrations = try await fleet.host(host)
            let plan = try await migrations.plan {
                try await $0.whenMigrating(toVersion: "1.2", addedIn: "1.4") {}
            }
            #expect(plan.map(\.description) == ["1.2 \(host == "b" ? "willRun" : "alreadyRun")"])
            let isMigrated = try await migrations.isMigrated {
                try await $0.whenMigrating(toVersion: "1.2", addedIn: "1.4") {}
            }
            #expect(isMigrated == (host == "c"))
            let ran = try await migrations.whenMigrating(toVersion: "1.2", addedIn: "1.4") { context in
                #expect(context.previousVersion == AppVersion("1.4"))
            }
            #expect(ran == (host == "b"))
            #expect(migrations.lastRunVersion == AppVersion("1.4"))
        }
        let look = try await fleet.host("d") { $0.isReadOnly = true }
        let refused = await code { try await look.whenMigrating(toVersion: "1.3", addedIn: "1.4") {} }
        #expect(refused == .readOnly)
        let versions = try await fleet.host("e").status.history.map(\.version)
        #expect(versions == [AppVersion("1.4"), AppVersion("1.2")])
    }

    @Test func `a start with a version of a hotfix reads the store once more, and writes nothing`()
        async throws
    {
        try await fleet.host().whenMigrating(toVersion: "1.4") {}
        try await fleet.host().whenMigrating(toVersion: "1.2", addedIn: "1.4") {}
        let (reads, writes) = (fleet.store.reads, fleet.store.writes)
        let migrations = try await fleet.host("b")
        #expect(try await !migrations.whenMigrating(toVersion: "1.2", addedIn: "1.4") {})
        #expect(try await !migrations.whenMigrating(toVersion: "1.4") {})
        #expect(fleet.store.reads == reads + 2)
        #expect(fleet.store.writes == writes)
    }

    @Test func `the document is that of the state file, with a lease while a closure runs`() async throws {
        let migrations = try await fleet.host()
        try await migrations.whenMigrating(toVersion: "1.1", minimumAppVersion: "1.0") { context in
            let text = try #require(try await fleet.store.text())
            #expect(text.contains(#""minimumAppVersion" : "1.0""#))
            #expect(text.contains(#""lease" : { "fence" : 1, "owner" : "a, process "#))
            #expect(text.contains(#""beat" : 0, "length" : 30.0 }"#))
            #expect(context.fence == 1)
        }
        let text = try #require(try await fleet.store.text())
        #expect(text.contains(#""lastRunVersion" : "1.1""#))
        #expect(!text.contains("owner") && !text.contains("latestAttempt"))
    }

    @Test func `the numbers of the fence rise over versions and failures`() async throws {
        var fences: [Int] = []
        let migrations = try await fleet.host()
        try await migrations.whenMigrating(toVersion: "1.1") { fences.append($0.fence) }
        #expect(
            await code {
                try await migrations.whenMigrating(toVersion: "1.2") { context in
                    fences.append(context.fence)
                    throw CancellationError()
                }
            } == .cancelled
        )
        try await fleet.host().whenMigrating(toVersion: "1.2") { fences.append($0.fence) }
        #expect(fences == [1, 2, 3])
    }

    @Test func `a closure that throws leaves its failure, and closes the manager`() async throws {
        let migrations = try await fleet.host()
        #expect(
            await code { try await migrations.whenMigrating(toVersion: "1.1") { throw TestStore.Failure() } }
                == .migrationFailed
        )
        #expect(await code { try await migrations.whenMigrating(toVersion: "1.2") {} } == .managerClosed)
        let text = try #require(try await fleet.store.text())
        #expect(text.contains(#""failure" : "the network is gone""#) && !text.contains("owner"))
        try await fleet.host("b").whenMigrating(toVersion: "1.1") { context in
            #expect(context.attempt == 2)
            #expect(context.isRetry)
        }
        #expect(fleet.log.lines == ["a started", "a failed", "b started", "b finished"])
    }

    @Test func `the closure runs on the caller's actor, and may change what the caller has`() async throws {
        try await onMainActor()
    }

    @MainActor private func onMainActor() async throws {
        var count = 0
        let migrations = try await fleet.host()
        try await migrations.whenMigrating(toVersion: "1.1") {
            MainActor.assertIsolated()
            count += 1
            await Task.yield()
            MainActor.assertIsolated()
        }
        #expect(count == 1)
    }

    @Test func `a closure that uses a manager of the same state is refused, whichever it is`() async throws {
        let migrations = try await fleet.host()
        try await migrations.whenMigrating(toVersion: "1.1") {
            #expect(await code { try await migrations.whenMigrating(toVersion: "1.2") {} } == .nested)
            let other = try await fleet.host("b")
            #expect(await code { try await other.whenMigrating(toVersion: "1.2") {} } == .nested)
            #expect(await code { try await other.reset(to: "1.0") } == .nested)
        }
    }

    @Test func `the rules of a declaration are those of the runner`() async throws {
        #expect(await code { try await fleet.host().whenMigrating(toVersion: "v1") {} } == .invalidVersion)
        #expect(
            await code { try await fleet.host().whenMigrating(toVersion: "2.0") {} }
                == .newerThanCurrentVersion
        )
        #expect(
            await code { try await fleet.host().whenMigrating(toVersion: "1.1", minimumAppVersion: "1.2") {} }
                == .declaredOutOfOrder
        )
        let migrations = try await fleet.host()
        try await migrations.whenMigrating(toVersion: "1.2") {}
        #expect(await code { try await migrations.whenMigrating(toVersion: "1.1") {} } == .declaredOutOfOrder)
        #expect(await code { _ = try await fleet.host { $0.upgradesFrom = "1.3" } } == .tooOld)
        let reader = try await fleet.host { $0.isReadOnly = true }
        #expect(await code { try await reader.reset(to: "1.0") } == .readOnly)
        #expect(await code { try await reader.whenMigrating(toVersion: "1.3") {} } == .readOnly)
        #expect(await code { try await reader.whenMigrating(toVersion: "1.4") {} } == .managerClosed)
    }

    @Test func `a fresh install runs nothing, and a host that is added later finds the state`() async throws {
        let first = try await fleet.host(firstRun: .freshInstall)
        #expect(first.launch == .first)
        #expect(try await !first.whenMigrating(toVersion: "1.4") {})
        #expect(try await !first.whenMigrating(toVersion: "1.4-1") {})
        let second = try await fleet.host("b", firstRun: .everything)
        #expect(second.launch == .same)
        #expect(try await !second.whenMigrating(toVersion: "1.4-2") {})
        // The next release finds data that isn't new.
        let newer = try await fleet.host("c", at: "1.5")
        #expect(try await newer.whenMigrating(toVersion: "1.4-3") {})
        #expect(try await newer.whenMigrating(toVersion: "1.5-1") {})
    }

    @Test func `a reset after a fresh install finds data that isn't new`() async throws {
        #expect(try await !fleet.host(firstRun: .freshInstall).whenMigrating(toVersion: "1.4-1") {})
        #expect(try await !fleet.host("b").whenMigrating(toVersion: "1.4-2") {})
        try await fleet.host().reset(to: "1.4")
        #expect(try await fleet.host("b").whenMigrating(toVersion: "1.4-1") {})
    }

    @Test func `an older release that meets the data of a newer one runs nothing`() async throws {
        try await fleet.host("first", at: "1.2").whenMigrating(toVersion: "1.1") {}
        let old = try await fleet.host("old", at: "1.2")
        try await fleet.host("new", at: "2.0").whenMigrating(toVersion: "2.0", minimumAppVersion: "1.5") {}
        #expect(try await !old.whenMigrating(toVersion: "1.1", minimumAppVersion: "1.1") {})
        #expect(await code { try await old.whenMigrating(toVersion: "1.2") {} } == .usedByNewerApp)
        let late = try await fleet.host("late", at: "1.2")
        #expect(late.launch == .downgrade(from: try AppVersion(parsing: "2.0")))
        #expect(late.requiredAppVersion == AppVersion("1.5"))
        #expect(try await !late.whenMigrating(toVersion: "1.2") {})
        // A reset doesn't lower the minimum app version, but a statement can.
        let refusal = await #expect(throws: MigrationError.self) { try await late.reset(to: "1.1") }
        #expect(refusal?.code == .usedByNewerApp)
        let advice =
            "run the statement of the guide Operating a fleet with the line that removes minimumAppVersion."
        #expect(refusal?.description.hasSuffix(advice) == true, "\(refusal)")
        _ = try await fleet.host("newest", at: "3.0")
        #expect(try await fleet.host("new", at: "2.0").whenMigrating(toVersion: "2.0-1") {})
    }

    @Test func `a member that this release doesn't know is kept`() async throws {
        _ = try await fleet.host()
        try await fleet.store.edit("  \"history\"", to: "  \"future\" : [ 1 ],\n  \"history\"")
        try await fleet.host("b").whenMigrating(toVersion: "1.1") {}
        #expect(try #require(try await fleet.store.text()).contains("\"future\" : [ 1 ],"))
    }

    @Test func `a second call of one manager while one is under way is nested, and closes nothing`()
        async throws
    {
        let migrations = try await fleet.host()
        let door = Door()
        let first = Call { [log = fleet.log] in
            try await migrations.whenMigrating(toVersion: "1.1") {
                log.add("begins")
                await door.pass()
            }
        }
        try await waitUntil { fleet.log.lines.contains("begins") || first.hasEnded }
        for text in ["1.0", "1.1", "1.2"] {
            #expect(
                await code {
                    try await migrations.whenMigrating(toVersion: text) { Issue.record("It ran.") }
                } == .nested
            )
        }
        door.open()
        #expect(try await first.value)
        #expect(try await migrations.whenMigrating(toVersion: "1.2") {})
    }
}

import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

@Suite(.temporaryDirectory) struct FleetDatabaseTests {
    let place: Place

    init() async throws { place = try await Place() }

    @Test(arguments: [true, false])
    func `work and record are one transaction, also on the store's own connection`(_ isShared: Bool)
        async throws
    {
        let manager = try await place.manager(on: isShared ? nil : try AsyncSQLite(place.path))
        for ran in [true, false] {
            let before = place.db.statements.count
            #expect(try await place.migrate(manager, to: ran ? "1.1" : "1.1-1"))
            let words = place.db.statements.dropFirst(before).map { $0.prefix { $0 != " " } }
            #expect(words.suffix(5) == ["BEGIN", "UPDATE", "INSERT", "UPDATE", "COMMIT"])
        }
        #expect(try await place.notes() == 2)
        #expect(try await !place.migrate(place.manager("b"), to: "1.1-1"))
        #expect(try await place.manager("c").lastRunVersion == AppVersion("1.1-1"))
    }

    @Test func `a closure that throws leaves nothing, and the failure is noted`() async throws {
        let manager = try await place.manager()
        let failed = await code {
            try await manager.whenMigrating(toVersion: "1.1", in: place.db) { db in
                try await place.insert(db)
                throw TestStore.Failure()
            }
        }
        #expect(failed == .migrationFailed)
        #expect(try await place.notes() == 0)
        let status = try await manager.status
        #expect(status.interruption?.failure == "the network is gone")
        #expect(status.interruption?.isUnderWay == false)
    }

    @Test func `a commit whose answer was lost is found by the next read`() async throws {
        place.db.onStatement { $0 == "COMMIT" ? .worksAndFails : .works }
        let manager = try await place.manager()
        #expect(try await place.migrate(manager))
        #expect(try await place.notes() == 1)
        #expect(manager.lastRunVersion == AppVersion("1.1"))
    }

    @Test func `a commit that didn't happen is a failure that is noted`() async throws {
        place.db.onStatement { $0 == "COMMIT" ? .fails : .works }
        let manager = try await place.manager()
        #expect(await code { _ = try await place.migrate(manager) } == .migrationFailed)
        place.db.onStatement { _ in .works }
        #expect(try await place.notes() == 0)
        #expect(try await place.migrate(place.manager("b")))
        #expect(try await place.notes() == 1)
    }

    @Test func `a commit that nobody can ask about is said to be unknown`() async throws {
        let manager = try await place.manager()
        let isGone = Log()
        place.db.onStatement { sql in
            if sql == "COMMIT" { isGone.add(sql) }
            return sql == "COMMIT" ? .worksAndFails : isGone.lines.isEmpty ? .works : .fails
        }
        let error = await #expect(throws: MigrationError.self) { try await place.migrate(manager) }
        #expect(error?.code == .stateNotSaved)
        #expect(
            error?.description.contains("Whether migration 1.1") == true,
            "\(error?.description ?? "")"
        )
        place.db.onStatement { _ in .works }
        #expect(try await !place.migrate(place.manager("b")))
        #expect(try await place.notes() == 1)
    }

    @Test func `the closure may not use another manager whose store is on the same connection`() async throws
    {
        let store = SQLFleetStore(place.db)
        let same = try await FleetMigrationManager(named: "Same", at: "1.0", on: store)
        let mine = try await FleetMigrationManager(named: "Mine", at: "1.0", on: store)
        try await mine.whenMigrating(toVersion: "1.0", in: place.db) { _ in
            #expect(await code { _ = try await same.status } == .stateUnreadable)
        }
    }

    @Test func `work is rolled back where another host has written the document meanwhile`() async throws {
        let manager = try await place.manager()
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", in: place.db) { db in
                try await place.insert(db)
                // As a host would that took over from this one.
                try await db.query(
                    """
                    UPDATE app_migration_state SET revision = revision + 7,
                        document = replace(document, '"owner" : "a', '"owner" : "b')
                    """
                )
            }
        }
        // The other host's write was in this transaction and is gone with it, so the lease stands and the failure is noted.
        #expect(error?.code == .migrationFailed)
        #expect(try await place.notes() == 0)
    }

    @Test func `a revision that was rolled back is never that of another host's lease`() async throws {
        let manager = try await place.manager()
        let steps = Log()
        place.db.onStatement { sql in
            if sql == "ROLLBACK" { steps.add(sql) }
            // As a host would that takes over before the failure is noted, in a store that counts by ones.
            if steps.lines == ["ROLLBACK"], sql.hasPrefix("UPDATE") {
                steps.add("taken over")
                place.edit(
                    "revision = revision + 1, document = replace(document, '\"owner\" : \"a', '\"owner\" : \"b')"
                )
            }
            return .works
        }
        let failed = await code {
            try await manager.whenMigrating(toVersion: "1.1", in: place.db) { _ in
                throw TestStore.Failure()
            }
        }
        #expect(failed == .migrationFailed)
        #expect(steps.lines == ["ROLLBACK", "taken over"])
        #expect(try await manager.status.interruption?.failure == nil)
    }
}

import AppMigrations
import AppMigrationsFleet

/// Hosts that start at once, and what they declare.
struct FleetScenario: Sendable {
    typealias Program = @Sendable (FleetHost, FleetGhost) async -> String
    typealias Work = @Sendable (FleetHost, FleetMigrationContext) async throws -> Void

    let name: String
    let versions: [String]
    let programs: [Program]
    /// Started on the host that died; `nil` for `last`.
    var restart: Program?
    let last: Program
    var endings: Set<String> = ["done"]
    var budget = Scenario.Budget()

    static let length = Duration.seconds(1)

    static let all = [
        FleetScenario(
            name: "a lease, two hosts and one that waits",
            versions: ["1.1"],
            programs: [
                app("1.1", [("1.1", long)]), app("1.1", [("1.1", long)]), app("1.1", [("1.1", long)]),
            ],
            last: app("1.1", [("1.1", long)])
        ),
        FleetScenario(
            name: "a lease and a closure that isn't cancelled",
            versions: ["1.1"],
            programs: [app("1.1", [("1.1", deaf)]), app("1.1", [("1.1", deaf)])],
            last: app("1.1", [("1.1", deaf)])
        ),
        FleetScenario(
            name: "a lease and two releases",
            versions: ["1.1", "1.2"],
            programs: [app("1.1", [("1.1", quick)]), app("1.2", [("1.1", quick), ("1.2", long)])],
            last: app("1.2", [("1.1", quick), ("1.2", long)]),
            endings: ["done", "usedByNewerApp"]
        ),
        FleetScenario(
            name: "a lease and checkpoints",
            versions: ["1.1"],
            programs: [app("1.1", [("1.1", inPieces)]), app("1.1", [("1.1", inPieces)])],
            last: app("1.1", [("1.1", inPieces)])
        ),
        FleetScenario(
            name: "a lease and a throw",
            versions: ["1.1"],
            programs: [app("1.1", [("1.1", failing)]), app("1.1", [("1.1", failing)])],
            restart: app("1.1", [("1.1", failing)]),
            last: app("1.1", [("1.1", quick)]),
            endings: ["done", "migrationFailed"]
        ),
    ]

    private static let quick: Work = { _, _ in }
    private static let long: Work = { host, _ in try await host.pause(.milliseconds(1_500)) }
    private static let deaf: Work = { host, _ in try await host.pauseUncancelled(.milliseconds(1_500)) }

    private static let inPieces: Work = { host, context in
        for piece in (try context.checkpoint(as: Int.self) ?? 0)..<2 {
            try await host.pause(.milliseconds(100))
            try await context.saveCheckpoint(piece + 1)
        }
    }

    private static let failing: Work = { _, context in
        if context.attempt == 1 { throw WorkFailure() }
    }

    /// A start of an app on a host.
    private static func app(_ current: String, _ declarations: [(version: String, work: Work)]) -> Program {
        { host, ghost in
            var version = ""
            do {
                let migrations = try await manager(of: current, on: host)
                for declaration in declarations {
                    version = declaration.version
                    try await migrations.whenMigrating(toVersion: version) { context in
                        let attempt = ghost.begins(version, on: host, context.attempt, fence: context.fence)
                        do {
                            try await withTaskCancellationHandler {
                                try await declaration.work(host, context)
                            } onCancel: {
                                ghost.isCancelled(attempt)
                            }
                        } catch {
                            ghost.ends(attempt, returning: false)
                            throw error
                        }
                        ghost.ends(attempt, returning: true)
                    }
                    ghost.acknowledges(version, on: host)
                }
                return "done"
            } catch let error as MigrationError {
                if error.code == .leaseLost { ghost.losesLease(version, on: host) }
                return "\(error.code)"
            } catch {
                return "\(error)"
            }
        }
    }

    private static func manager(of current: String, on host: FleetHost) async throws(MigrationError)
        -> FleetMigrationManager
    {
        var options = FleetMigrationManager.Options(leaseDuration: length)
        (options.clock, options.host) = (host.clock, host.name)
        return try await FleetMigrationManager(
            named: "Data",
            currentVersion: current,
            firstRun: .existingData(at: "1.0"),
            store: host,
            options: options
        )
    }
}

extension FleetScenario: Searchable {
    var budgetOfWalks: Scenario.Budget { Scenario.Budget(deaths: 2, faults: 2, stalls: 2) }

    func searching() -> any Searching { FleetSearch(self) }

    func plans(_ isFull: Bool) -> [Plan] {
        let isLarge = programs.count > 2
        let deviations = isFull ? 5 : isLarge ? 2 : 3
        let few = isFull ? 4 : isLarge ? 1 : 2
        return [
            Plan("every interleaving", .init(), allowance: deviations + 1),
            Plan("two deaths", .init(deaths: 2), allowance: deviations),
            Plan("two losses", .init(faults: 2), allowance: deviations),
            Plan("two stalls", .init(stalls: 2), allowance: isFull ? 4 : 2),
            Plan("a loss, a stall and a death", .init(deaths: 1, faults: 1, stalls: 1), allowance: few),
        ]
    }
}

import AppMigrations
import SimulatedSystem

extension Scenario {
    /// A hotfix brings 1.1 to data that has 1.2 already.
    ///
    /// It runs exactly as often as it is recorded: at least once, recorded after it returned, and never again.
    static let adding = [hotfix, hotfixWithThrow]

    /// Two processes of the release that has the hotfix.
    static let hotfix = added("a version that is added late", [addedOne, three], [addedOne, three])

    /// The hotfix throws at first, and a release without it goes on: the attempt isn't forgotten.
    static let hotfixWithThrow = added(
        "a version that is added late, with a throw",
        [throwingOne, three],
        [three]
    )

    private static func added(_ name: String, _ first: [Declaration], _ second: [Declaration]) -> Scenario {
        Scenario(
            name: name,
            versions: ["1.3"],
            late: ["1.1"],
            setUp: { ghost in
                started("1.0")(ghost)
                Files.make(Ghost.stateFile, state)
            },
            programs: [app("1.3", first), app("1.3", second)],
            restart: app("1.3", first),
            last: app("1.3", [addedOne, three]),
            endings: ["done", "migrationFailed"],
            atEnd: { ghost in
                recorded(["1.3"])(ghost)
                if ghost.facts?.history.contains("1.1") != true {
                    ghost.fail("After one undisturbed start nothing is pending: 1.1 isn't recorded.")
                }
            }
        )
    }

    private static let three = Declaration(version: "1.3")
    private static let addedOne = Declaration(version: "1.1", addedIn: "1.3")
    private static let throwingOne = Declaration(version: "1.1", addedIn: "1.3") { _, context in
        if context.attempt == 1 { throw WorkFailure() }
    }

    private static let state = """
        { "format": 1, "name": "Library", "lastRunVersion": "1.2", "baseline": "1.0", "launchedVersion": "1.2",
          "history": [{ "version": "1.2", "previousVersion": "1.0", "appVersion": "1.2", "attemptCount": 1, "duration": 0,
            "finishedAt": "2026-11-21T03:54:28Z" }] }
        """
}

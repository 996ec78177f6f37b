import AppMigrations
import SimulatedSystem

extension Scenario {
    static let refusing = [limited, upgrading]

    /// Processes of one version of the app, two of which at most may die in the closure.
    static let limited = Scenario(
        name: "a limit of attempts over two processes",
        versions: ["1.1"],
        setUp: started("1.0"),
        programs: [trying, trying],
        restart: trying,
        last: app("1.1", [one]),
        endings: ["done", "attemptLimitReached"],
        atEnd: recorded(["1.1"])
    )

    private static let counting = Declaration(version: "1.1") { ghost, _ in
        if ghost.knowledge.deathsInClosures >= 2 {
            ghost.fail("After as many deaths as the limit allows the closure isn't called again.")
        }
    }

    private static let trying = Program(name: "app 1.1, which tries twice") { ghost in
        let options = MigrationManager.Options(lockTimeout: .seconds(10), attemptLimit: 2)
        let ending = app("1.1", [counting], options: options).run(ghost)
        // An end that could not be noted looks like a death.
        if Machine.isAlive, ending == "stateNotSaved" { ghost.knowledge.deaths += 1 }
        if Machine.isAlive, ending == "attemptLimitReached", ghost.knowledge.deaths < 2 {
            ghost.fail("Only deaths reach the limit of attempts: there were \(ghost.knowledge.deaths).")
        }
        return ending
    }

    /// An app that no longer declares 1.1, while the release that does may run it.
    static let upgrading = Scenario(
        name: "an upgrade from 1.1 at the earliest",
        versions: ["1.1", "1.2"],
        setUp: started("1.0"),
        programs: [
            app("1.1", [one]),
            Program(name: "app 1.2, which upgrades from 1.1") { ghost in
                let wasRecorded = ghost.knowledge.acknowledged[Ghost.library] == "1.1"
                let options = MigrationManager.Options(lockTimeout: .seconds(10), upgradesFrom: "1.1")
                let ending = app("1.2", [two], options: options).run(ghost)
                if Machine.isAlive, ending == "tooOld", wasRecorded {
                    ghost.fail("Data is too old only where a migration is missing: 1.1 was recorded.")
                }
                return ending
            },
        ],
        last: app("1.2", [one, two]),
        endings: ["done", "usedByNewerApp", "tooOld"],
        atEnd: recorded(["1.1", "1.2"])
    )
}

import AppMigrations
import SimulatedSystem

extension Scenario {
    fileprivate static let index = "Index"

    /// A closure declares with the manager of another subsystem, which has a process of its own too.
    ///
    /// Each closure runs once, whoever runs it, and nobody waits for itself.
    static let using = Scenario(
        name: "a closure uses a manager",
        versions: ["1.1"],
        managers: [Ghost.library, index],
        setUp: { ghost in
            started("1.0")(ghost)
            _ = app("1.0", [], manager: index, firstRun: .freshInstall).run(ghost)
        },
        programs: [
            app("1.1", [.usingIndex], named: "app, its library"),
            app("1.1", [one], named: "app, its index", manager: index),
        ],
        restart: both,
        last: both,
        isLarge: true,
        endings: ["done", "migrationFailed"],
        atEnd: recorded(["1.1"])
    )

    private static let both = Program(name: "app, its library and its index") { ghost in
        let ending = app("1.1", [.usingIndex], named: "app, its library").run(ghost)
        if ending != "done" { return ending }
        return app("1.1", [one], named: "app, its index", manager: index).run(ghost)
    }
}

extension Declaration {
    fileprivate static let usingIndex = Declaration(version: "1.1") { ghost, _ in
        let outer = ghost.knowledge.running[Machine.current]
        ghost.knowledge.running[Machine.current] = nil
        let ending = app("1.1", [Declaration(version: "1.1")], manager: Scenario.index).run(ghost)
        if !Machine.isAlive { throw Died() }
        ghost.knowledge.running[Machine.current] = outer
        if ending != "done" { throw WorkFailure() }
    }
}

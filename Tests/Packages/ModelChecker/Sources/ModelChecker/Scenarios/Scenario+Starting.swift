import AppMigrations
import SimulatedSystem

extension Scenario {
    static let one = Declaration(version: "1.1")
    static let two = Declaration(version: "1.2")

    static let starting = [firstRun, twoVersions, rolledBack, chain, floor, checkpoint]

    /// Two processes of one app meet data that is older than the library.
    static let firstRun = Scenario(
        name: "two processes on the first run",
        versions: ["1.1"],
        programs: [app("1.1", [one]), app("1.1", [one])],
        last: app("1.1", [one]),
        atEnd: recorded(["1.1"])
    )

    /// An older and a newer app start together, with one migration each.
    static let twoVersions = Scenario(
        name: "two versions of the app, one migration each",
        versions: ["1.1", "1.2"],
        setUp: started("1.0"),
        programs: [app("1.1", [one]), app("1.2", [one, two])],
        last: app("1.2", [one, two]),
        endings: ["done", "usedByNewerApp"],
        atEnd: recorded(["1.1", "1.2"])
    )

    /// A newer app starts, fails once in a migration that the older one has too, and is rolled back.
    static let rolledBack = Scenario(
        name: "a newer app that fails and is rolled back",
        versions: ["1.1"],
        setUp: started("1.0"),
        programs: [app("2.0", [failingOne]), app("1.1", [one])],
        restart: app("1.1", [one]),
        last: app("1.1", [one]),
        endings: ["done", "migrationFailed"],
        atEnd: recorded(["1.1"])
    )

    private static let failingOne = Declaration(version: "1.1") { _, context in
        if context.attempt == 1 { throw WorkFailure() }
    }

    /// A chain of two migrations, the second of which throws at first.
    static let chain = Scenario(
        name: "a chain of two with a throw",
        versions: ["1.1", "1.2"],
        setUp: started("1.0"),
        programs: [app("1.2", [one, throwing]), app("1.2", [one, throwing])],
        restart: app("1.2", [one, throwing]),
        last: app("1.2", [one, two]),
        endings: ["done", "migrationFailed"],
        atEnd: recorded(["1.1", "1.2"])
    )

    private static let throwing = Declaration(version: "1.2") { _, context in
        if context.attempt == 1 { throw WorkFailure() }
    }

    /// A migration whose data apps below 2.0 can't read, while such an app starts.
    static let floor = Scenario(
        name: "a floor being raised while an older app starts",
        versions: ["2.0"],
        setUp: started("1.0"),
        programs: [
            app("2.0", [Declaration(version: "2.0", minimumAppVersion: "2.0")]),
            Program(name: "app 1.0, which reads the data") { ghost in
                let hasBegun =
                    ghost.knowledge.begins["2.0"] != nil || ghost.knowledge.returned.contains("2.0")
                let asking = app(
                    "1.0",
                    [],
                    finally: { ghost, migrations in
                        if !Machine.isAlive { return }
                        if hasBegun, migrations.requiredAppVersion != AppVersion("2.0") {
                            ghost.fail(
                                "An older app is told that it may not use the data, from before the data changes."
                            )
                        }
                    }
                )
                return asking.run(ghost)
            },
        ],
        last: app("2.0", [Declaration(version: "2.0", minimumAppVersion: "2.0")]),
        atEnd: { ghost in
            recorded(["2.0"])(ghost)
            if ghost.facts?.floor != "2.0" { ghost.fail("The floor is only ever raised.") }
        }
    )

    /// A closure of three pieces that saves how far it came.
    static let checkpoint = Scenario(
        name: "a closure with checkpoints",
        versions: ["1.1"],
        setUp: { ghost in
            started("1.0")(ghost)
            _ = mkdir(Files.library, 0o700)
        },
        programs: [app("1.1", [inPieces]), app("1.1", [inPieces])],
        last: app("1.1", [inPieces]),
        atEnd: { ghost in
            recorded(["1.1"])(ghost)
            requirePieces(2, "the record", ghost)
        }
    )

    private static let inPieces = Declaration(version: "1.1") { ghost, context in
        let done = try context.checkpoint(as: Int.self) ?? 0
        requirePieces(done, "checkpoint \(done)", ghost)
        for piece in done..<2 {
            try Files.rewrite(Files.library + "/piece \(piece)", "new")
            try context.synchronize([Files.library])
            try context.saveCheckpoint(piece + 1)
        }
    }

    private static func requirePieces(_ count: Int, _ what: String, _ ghost: Ghost) {
        if !Machine.isAlive { return }
        for piece in 0..<count where Files.text(Files.library + "/piece \(piece)") != "new" {
            ghost.fail("A checkpoint is never ahead of the work: \(what) says that piece \(piece) is done.")
        }
    }
}

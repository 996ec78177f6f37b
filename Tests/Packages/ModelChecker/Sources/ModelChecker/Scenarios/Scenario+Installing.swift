import AppMigrations
import SimulatedSystem

extension Scenario {
    /// A fresh install whose first starts die, plan or come together.
    ///
    /// A sub-migration of its own release never runs on it, however often its first start died. One that is added later runs.
    static let installing = Scenario(
        name: "a fresh install with a sub-migration",
        versions: ["1.1-2"],
        programs: [
            freshApp([own]),
            app(
                "1.1",
                [],
                named: "planning app",
                firstRun: .freshInstall,
                finally: { ghost, migrations in
                    let rows = try migrations.plan { try $0.whenMigrating(toVersion: "1.1-1") {} }
                    if Machine.isAlive, rows.map(\.kind) != [.baseline] {
                        ghost.fail(
                            "A plan says that a fresh install has its own release behind it: it said \(rows)."
                        )
                    }
                }
            ),
        ],
        restart: freshApp([own]),
        last: Program(name: "app 1.1, and then its next build") { ghost in
            let ending = freshApp([own]).run(ghost)
            return ending == "done" ? freshApp([own, Declaration(version: "1.1-2")]).run(ghost) : ending
        },
        atEnd: recorded(["1.1-2"])
    )

    private static func freshApp(_ declarations: [Declaration]) -> Program {
        app("1.1", declarations, firstRun: .freshInstall)
    }

    private static let own = Declaration(version: "1.1-1") { ghost, _ in
        ghost.fail("A sub-migration of a fresh install's own release never runs on it.")
    }
}

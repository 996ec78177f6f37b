import AppMigrations
import SimulatedSystem

extension Scenario {
    static let looking = [plan, readOnly]

    /// A process only asks what would run.
    static let plan = beside("a plan beside a run", named: "planning app") { ghost, migrations in
        let isRecorded = ghost.knowledge.acknowledged[Ghost.library] == "1.1"
        let kinds = try migrations.plan { try $0.whenMigrating(toVersion: "1.1") {} }.map(\.kind)
        if !Machine.isAlive { return }
        // The manager knows every record that was there before it.
        if kinds != [.willRun], kinds != [.alreadyRun], kinds != [.baseline] {
            ghost.fail("A plan says what would run: it said \(kinds).")
        }
        if !isRecorded, ghost.knowledge.returned.isEmpty, kinds != [.willRun] {
            ghost.fail("A plan says what would run: 1.1 had not run, and it said \(kinds).")
        }
    }

    /// A manager that may not change anything declares the same.
    static let readOnly = beside(
        "a read-only manager beside a run",
        Program(name: "looking app 1.1", isLooking: true) { ghost in
            let wasRecorded = ghost.knowledge.acknowledged[Ghost.library] == "1.1"
            let ending = app("1.1", [one], options: .init(isReadOnly: true)).run(ghost)
            if !Machine.isAlive { return ending }
            if ending == "done", !ghost.knowledge.returned.contains("1.1") {
                ghost.fail("A manager that only looks says what is pending: it took 1.1 for recorded.")
            }
            if ending == "readOnly", wasRecorded {
                ghost.fail("A manager that only looks says what is pending: it took 1.1 for pending.")
            }
            return ending
        },
        endings: ["done", "readOnly"]
    )
}

extension Scenario {
    /// An app runs its one migration beside another program.
    static func beside(_ name: String, _ other: Program, endings: Set<String> = ["done"]) -> Scenario {
        Scenario(
            name: name,
            versions: ["1.1"],
            setUp: started("1.0"),
            programs: [app("1.1", [one]), other],
            last: app("1.1", [one]),
            endings: endings,
            atEnd: recorded(["1.1"])
        )
    }

    /// The other program makes a manager, and declares nothing.
    static func beside(
        _ name: String,
        named app: String,
        endings: Set<String> = ["done"],
        _ body: @escaping @Sendable (Ghost, MigrationManager) throws -> Void
    ) -> Scenario {
        beside(name, ModelChecker.app("1.1", [], named: app, finally: body), endings: endings)
    }
}

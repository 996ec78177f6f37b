import AppMigrations
import SimulatedSystem

/// What is named by `replacing:` is wholly old or wholly new at every moment but the one between two renames, and new if it is
/// recorded.
extension Scenario {
    static let replacing = [
        replacing("replacing a folder, with a look", other: look),
        replacing("replacing a folder, with an older app", other: older),
    ]

    private static let old = "old notes"
    private static let new = "old notes, converted"
    private static let working = "/app/.library@Library.migrating"
    private static let file = Files.library + "/notes"

    /// Work that shows if it is done twice.
    private static let declaration = Declaration(
        version: "1.1",
        replacing: (
            Files.library,
            { copy in
                let path = copy + "/notes"
                if !Machine.isAlive { throw Died() }
                guard let text = Files.text(path) else { throw WorkFailure() }
                try Files.rewrite(path, text + ", converted")
            }
        )
    )

    private static func replacing(_ name: String, other: Program) -> Scenario {
        Scenario(
            name: name,
            versions: ["1.1"],
            setUp: { ghost in
                started("1.0")(ghost)
                _ = mkdir(Files.library, 0o700)
                Files.make(file, old)
            },
            programs: [app("1.1", [declaration]), other],
            restart: app("1.1", [declaration], opened: requireWhole),
            last: app("1.1", [declaration], opened: requireWhole),
            deviations: 2,
            atEnd: { ghost in
                recorded(["1.1"])(ghost)
                if Files.text(file) != new {
                    ghost.fail("What is recorded is done, once: \(Files.text(file) ?? "gone").")
                }
                if Machine.system.disk.find(working) != nil { ghost.fail("The working folder is removed.") }
            }
        )
    }

    /// A program without the library.
    private static let look = Program(name: "look") { ghost in
        if mark("a program looks") { requireWhole(ghost) }
        return "done"
    }

    private static let older = app("1.0", [], named: "older app", opened: requireWhole)

    private static func requireWhole(_ ghost: Ghost) {
        guard Machine.isAlive, let version = AppVersion("1.1"), let facts = ghost.facts else { return }
        guard Machine.system.disk.find(Files.library) != nil else {
            let held = ["old", "ready-1.1"].map { Files.text(working + "/\($0)/library/notes") }
            if held != [old, new] { ghost.fail("A folder that is missing is beside its place: \(held).") }
            return
        }
        let found = Files.text(file) ?? "gone"
        if found != new, found != old || facts.lastRun >= version {
            ghost.fail("A folder is wholly old, or new if it is recorded: \(found) at \(facts.lastRun).")
        }
    }
}

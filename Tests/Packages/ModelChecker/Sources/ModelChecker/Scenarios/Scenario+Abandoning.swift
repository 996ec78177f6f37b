import AppMigrations
import SimulatedSystem

extension Scenario {
    private static let kept = "Library.migrations.kept-"
    private static let old = "old notes"
    private static let new = "NEW NOTES, LONGER"

    /// The files that wait to be put back are given up, while an app may put them back, or be in the closure.
    static let abandoning = besideRewriting("abandonRestore beside a run", "recovery screen", abandon)

    /// The state is lost after a process died in its closure, and with the state the list of the copies.
    static let losing = besideRewriting("a lost state beside copies", "a removal of the state", lose)

    /// A file is rewritten beside another program, which later starts do first.
    private static func besideRewriting(
        _ name: String,
        _ other: String,
        _ body: @escaping @Sendable (Ghost) -> String
    ) -> Scenario {
        Scenario(
            name: name,
            versions: ["1.1"],
            setUp: { ghost in
                started("1.0")(ghost)
                Files.make(Files.notes, old)
            },
            programs: [app("1.1", [rewriting]), Program(name: other, run: body)],
            last: Program(name: other + ", then app 1.1") { ghost in
                let ending = body(ghost)
                return ending == "done" ? app("1.1", [rewriting]).run(ghost) : ending
            },
            isLarge: true,
            atEnd: { ghost in
                recorded(["1.1"], keeping: kept)(ghost)
                if Files.text(Files.notes) != new { ghost.fail("What is recorded is done.") }
            }
        )
    }

    private static func lose(_ ghost: Ghost) -> String {
        if !mark("the state is to be removed") { return "" }
        // Once, and not under a process that is at work.
        if ghost.isAnyAtWork || ghost.knowledge.isLowered || ghost.facts?.interrupted == nil { return "done" }
        ghost.knowledge.isLowered = true
        Machine.atOnce { _ = unlink(Ghost.stateFile) }
        return "done"
    }

    private static let rewriting = Declaration(version: "1.1", protecting: [Files.notes]) { ghost, _ in
        if !Machine.isAlive { return }
        let found = Files.text(Files.notes) ?? "gone"
        if found != old, found != new, !copies().contains(old) {
            ghost.fail("A closure begins on whole files, or their copies are kept: it finds \(found).")
        }
        ghost.knowledge.notes["copied"] = Int(Names.number(found))
        try Files.rewrite(Files.notes, new)
    }

    /// The texts of the copies that were given up.
    private static func copies() -> [String] {
        Machine.system.disk.names(in: Ghost.folder).filter { $0.hasPrefix(kept) }.map {
            Files.text(Ghost.folder + "/" + $0 + "/0/item") ?? "gone"
        }
    }

    private static func abandon(_ ghost: Ghost) -> String {
        do {
            let folder = try MigrationManager.abandonRestore(named: "Library", stateDirectory: Ghost.folder)
            // After a power loss the copies may be of what an earlier closure had written, and that may be lost since.
            guard let folder, Machine.isAlive, !ghost.hasLostPower else { return "done" }
            let copy = Files.text(folder + "/0/item")
            let isOfLast = copy.map { Int(Names.number($0)) } == ghost.knowledge.notes["copied"]
            // A closure that had not begun leaves the files as they were copied.
            if !isOfLast, copy != Files.text(Files.notes) {
                ghost.fail("The copies that were given up are what the closure began on.")
            }
            return "done"
        } catch {
            return "\(error.code)"
        }
    }
}

import AppMigrations
import SimulatedSystem

/// Two managers that protect the same file: one names the folder, the other a file in it.
extension Scenario {
    static let sharing = [sharedFile, sharedFailure, usedManager]

    /// The closure over the folder throws once, while the one over the file returns.
    static let sharedFile = shared("two managers share a file", .ofFolder, .ofIndex)

    /// Both closures throw once.
    static let sharedFailure = shared(
        "two managers share a file, and both throw",
        .ofFolder,
        .failingOfIndex
    )

    /// The closure over the folder declares with the other manager: a process that was refused has no lock of that.
    static let usedManager = shared("a closure uses a manager", .usingIndex, .ofIndex, last: .usingIndex)

    private static func shared(
        _ name: String,
        _ ofFolder: Declaration,
        _ ofIndex: Declaration,
        last: Declaration = .quietOfFolder
    ) -> Scenario {
        Scenario(
            name: name,
            versions: ["1.1"],
            managers: [Ghost.library, index],
            setUp: { ghost in
                started("1.0")(ghost)
                _ = app("1.0", [], manager: index, firstRun: .freshInstall).run(ghost)
                _ = mkdir(Files.library, 0o700)
                Files.make(Files.library + "/index", "old index")
                Files.make(Files.library + "/photo", "old photo")
            },
            programs: [library(ofFolder), indexing(ofIndex)],
            restart: both(ofFolder, ofIndex),
            last: both(last, .ofIndex),
            isLarge: true,
            deviations: 1,
            // Managers that miss each other's list take two: one stops before it has listed, then the other in its closure.
            deviationsOfOrder: 2,
            // While one has listed the file, the other is refused; two that list it at once may both be.
            endings: ["done", "migrationFailed", "protectionFailed"],
            atEnd: { ghost in
                recorded(["1.1"])(ghost)
                requireOwnWork(ghost)
            }
        )
    }

    fileprivate static let index = "Index"

    private static func library(_ declaration: Declaration) -> Program {
        app("1.1", [declaration], named: "app, its library", opened: requireOwnWork)
    }

    private static func indexing(_ declaration: Declaration) -> Program {
        app("1.1", [declaration], named: "app, its index", manager: index, opened: requireOwnWork)
    }

    /// One process makes both managers before either declares: what one has to put back would shut the other out.
    private static func both(_ ofFolder: Declaration, _ ofIndex: Declaration) -> Program {
        Program(name: "app, its library and its index") { ghost in
            for program in [app("1.1", [], manager: index), library(ofFolder)] {
                let ending = program.run(ghost)
                if ending != "done" { return ending }
            }
            return indexing(ofIndex).run(ghost)
        }
    }

    /// Where nobody is at work and nothing is to be put back, each file is what its manager's state says: old until the migration
    /// is recorded, and new from then on, whatever another manager puts back.
    private static func requireOwnWork(_ ghost: Ghost) {
        if !Machine.isAlive || ghost.isAnyAtWork { return }
        let facts = ghost.managers.compactMap { ghost.facts(of: $0) }
        if facts.contains(where: { $0.isProtecting }) { return }
        for (manager, name) in zip(ghost.managers, ["photo", "index"]) {
            if manager == index, ghost.knowledge.notes["the index is used"] != nil { continue }
            guard let mark = ghost.facts(of: manager)?.lastRun, let version = AppVersion("1.1") else {
                continue
            }
            let found = Files.text(Files.library + "/" + name) ?? "gone"
            if mark >= version, found != "NEW \(name)" {
                ghost.fail(
                    "What is recorded is undone by no other manager: \(manager) has recorded 1.1, and finds \(found)."
                )
            }
            if mark < version, found != "old \(name)" {
                ghost.fail("Protected bytes are the old ones until the record: \(manager) finds \(found).")
            }
        }
    }
}

extension Declaration {
    fileprivate static let ofFolder = rewriting("photo", protecting: Files.library, isThrowing: true)
    fileprivate static let quietOfFolder = rewriting("photo", protecting: Files.library)
    fileprivate static let ofIndex = rewriting("index", protecting: Files.library + "/index")
    fileprivate static let failingOfIndex = rewriting(
        "index",
        protecting: Files.library + "/index",
        isThrowing: true
    )

    /// To declare in the closure leaves the files of the folder alone: a restore of the folder would undo what is recorded.
    fileprivate static let usingIndex = Declaration(version: "1.1", protecting: [Files.library]) { ghost, _ in
        let outer = ghost.knowledge.running[Machine.current]
        let used = Declaration(version: "1.1") { ghost, _ in ghost.knowledge.notes["the index is used"] = 1 }
        let ending = app("1.1", [used], manager: Scenario.index).run(ghost)
        if !Machine.isAlive { throw Died() }
        ghost.knowledge.running[Machine.current] = outer
        if ending != "done" { throw WorkFailure() }
        try Files.rewrite(Files.library + "/photo", "NEW photo")
    }

    private static func rewriting(
        _ name: String,
        protecting path: String,
        isThrowing: Bool = false
    ) -> Declaration {
        Declaration(version: "1.1", protecting: [path]) { _, context in
            try Files.rewrite(Files.library + "/" + name, "NEW " + name)
            if isThrowing, context.attempt == 1 { throw WorkFailure() }
        }
    }
}

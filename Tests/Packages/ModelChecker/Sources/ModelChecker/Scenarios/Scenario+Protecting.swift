import AppMigrations
import SimulatedSystem

extension Scenario {
    static let protecting = [
        protectedFile, protectedFolder, protectedThrow, protectedAlone, protectedElsewhere,
    ]

    private static let old = "old notes"
    private static let new = "NEW NOTES, LONGER"

    private static let file = Declaration(version: "1.1", protecting: [Files.notes]) { _, _ in
        try Files.rewrite(Files.notes, new)
    }

    /// A file is rewritten in place, while an app that doesn't know the migration starts and reads.
    static let protectedFile = Scenario(
        name: "protecting a file, with a reader",
        versions: ["1.1"],
        setUp: { ghost in
            started("1.0")(ghost)
            Files.make(Files.notes, old)
        },
        programs: [app("1.1", [file]), reader(requireWholeFile)],
        last: app("1.1", [file], opened: requireWholeFile),
        atEnd: { ghost in
            recorded(["1.1"])(ghost)
            if Files.text(Files.notes) != new {
                ghost.fail("What is recorded is done: \(Files.text(Files.notes) ?? "gone").")
            }
        }
    )

    /// A folder loses a file, gets one, and has one changed.
    static let protectedFolder = Scenario(
        name: "protecting a folder, with a reader",
        versions: ["1.1"],
        setUp: { ghost in
            started("1.0")(ghost)
            _ = mkdir(Files.library, 0o700)
            Files.make(Files.library + "/a", "old a")
            Files.make(Files.library + "/b", "old b")
        },
        programs: [app("1.1", [folder]), reader(requireWholeFolder)],
        last: app("1.1", [folder], opened: requireWholeFolder),
        isLarge: true,
        atEnd: { ghost in
            recorded(["1.1"])(ghost)
            if listing() != "b=NEW B c=NEW C" { ghost.fail("What is recorded is done: \(listing()).") }
        }
    )

    private static let folder = Declaration(version: "1.1", protecting: [Files.library]) { _, _ in
        try Files.remove(Files.library + "/a")
        try Files.rewrite(Files.library + "/b", "NEW B")
        try Files.rewrite(Files.library + "/c", "NEW C")
    }

    /// The closure throws once, after it has changed the file.
    static let protectedThrow = Scenario(
        name: "protecting a file, with a throw",
        versions: ["1.1"],
        setUp: { ghost in
            started("1.0")(ghost)
            Files.make(Files.notes, old)
        },
        programs: [app("1.1", [failing]), app("1.1", [failing], opened: requireWholeFile)],
        restart: app("1.1", [failing], opened: requireWholeFile),
        last: app("1.1", [file], opened: requireWholeFile),
        isLarge: true,
        endings: ["done", "migrationFailed"],
        atEnd: { ghost in
            recorded(["1.1"])(ghost)
            if Files.text(Files.notes) != new { ghost.fail("What is recorded is done.") }
        }
    )

    /// The same with one process at a time.
    ///
    /// The starts after a death only put files back and remove copies. The search is small, so two things can go wrong in it: a death, and then a power loss in such a start.
    static let protectedAlone = Scenario(
        name: "protecting a file, with starts that only recover",
        versions: ["1.1"],
        setUp: protectedThrow.setUp,
        programs: [app("1.1", [failing], opened: requireWholeFile)],
        restart: app(
            "1.1",
            [],
            named: "recovering app",
            opened: requireWholeFile,
            finally: { _, migrations in try migrations.resetAttempts() }
        ),
        last: protectedThrow.last,
        endings: protectedThrow.endings,
        atEnd: protectedThrow.atEnd
    )

    /// The state, with its copies, is on another file system than the file.
    static let protectedElsewhere = Scenario(
        name: "protecting a file of another file system",
        versions: ["1.1"],
        setUp: { ghost in
            _ = mkdir("/app", 0o700)
            Machine.system.disk.mount("state", in: "/app")
            protectedThrow.setUp(ghost)
        },
        programs: protectedThrow.programs,
        restart: protectedThrow.restart,
        last: protectedThrow.last,
        isLarge: true,
        deviations: 1,
        endings: protectedThrow.endings,
        atEnd: protectedThrow.atEnd
    )

    private static let failing = Declaration(version: "1.1", protecting: [Files.notes]) { _, context in
        try Files.rewrite(Files.notes, new)
        if context.attempt == 1 { throw WorkFailure() }
    }

    /// An app of the older release: it declares nothing, and reads its data once it has its manager.
    private static func reader(_ look: @escaping @Sendable (Ghost) -> Void) -> Program {
        app("1.0", [], named: "reading app", opened: look)
    }

    /// A start that came back with a manager finds whole data, but where a live process is in its closure.
    private static func requireWholeFile(_ ghost: Ghost) {
        require(Files.text(Files.notes) ?? "gone", [old, new], ghost)
    }

    private static func requireWholeFolder(_ ghost: Ghost) {
        require(listing(), ["a=old a b=old b", "b=NEW B c=NEW C"], ghost)
    }

    private static func require(_ found: String, _ whole: [String], _ ghost: Ghost) {
        if !Machine.isAlive { return }
        let isClosureRunning = ghost.knowledge.running.contains { $0 != nil }
        // From the closure's end to the record, or until everything is back, the live process is still at work.
        if isClosureRunning || ghost.isAnyAtWork { return }
        if !whole.contains(found) {
            ghost.fail("Protected bytes are the old or the new ones: a start finds \(found).")
        }
        if let facts = ghost.facts, facts.lastRun >= AppVersion("1.1") ?? facts.lastRun, found != whole[1] {
            ghost.fail("What is recorded is done: a start finds \(found).")
        }
    }

    private static func listing() -> String {
        Machine.system.disk.names(in: Files.library).map {
            "\($0)=\(Files.text(Files.library + "/" + $0) ?? "")"
        }
        .joined(separator: " ")
    }
}

import AppMigrations
import SimulatedSystem

extension Scenario {
    static let writing = [writtenFile, writtenThrow]

    private static let old = "old notes"
    private static let new = "NEW NOTES, LONGER"

    private static let file = Declaration(version: "1.1") { _, context in
        try Files.rewrite(Files.notes, new)
        try context.synchronize([Files.notes])
    }

    /// A file is rewritten in place and synchronized, while an app that doesn't know the migration starts and reads.
    static let writtenFile = written("writing a file, with a reader", [file], reader, endings: ["done"])

    /// The closure throws once, after it has changed the file.
    static let writtenThrow = written(
        "writing a file, with a throw",
        [failing],
        app("1.1", [failing], opened: requireRecordedWork),
        endings: ["done", "migrationFailed"]
    )

    private static func written(
        _ name: String,
        _ declarations: [Declaration],
        _ other: Program,
        endings: Set<String>
    ) -> Scenario {
        Scenario(
            name: name,
            versions: ["1.1"],
            setUp: { ghost in
                started("1.0")(ghost)
                Files.make(Files.notes, old)
            },
            programs: [app("1.1", declarations), other],
            restart: app("1.1", declarations, opened: requireRecordedWork),
            last: app("1.1", [file], opened: requireRecordedWork),
            endings: endings,
            atEnd: { ghost in
                recorded(["1.1"])(ghost)
                if Files.text(Files.notes) != new {
                    ghost.fail("What is recorded is done: \(Files.text(Files.notes) ?? "gone").")
                }
            }
        )
    }

    private static let failing = Declaration(version: "1.1") { _, context in
        try Files.rewrite(Files.notes, new)
        if context.attempt == 1 { throw WorkFailure() }
        try context.synchronize([Files.notes])
    }

    /// An app of the older release: it declares nothing, and reads its data once it has its manager.
    private static let reader = app("1.0", [], named: "reading app", opened: requireRecordedWork)

    /// A record never says more than the files.
    private static func requireRecordedWork(_ ghost: Ghost) {
        guard Machine.isAlive, let version = AppVersion("1.1"), let facts = ghost.facts else { return }
        let found = Files.text(Files.notes) ?? "gone"
        if facts.lastRun >= version, found != new {
            ghost.fail("What is recorded is done: a start finds \(found).")
        }
    }
}

import AppMigrations
import SimulatedSystem

extension Scenario {
    /// Three releases of an app at once, with a longer chain: too much to search, so it is walked at random.
    static let crowd = Scenario(
        name: "three processes and a chain of four",
        versions: ["1.1", "1.2", "1.2-1", "1.3"],
        setUp: { ghost in
            started("1.0")(ghost)
            Files.make(Files.notes, "old notes")
        },
        programs: [app("1.1", release(1)), app("1.2", release(3)), app("1.3", release(4))],
        last: app("1.3", release(4)),
        endings: ["done", "usedByNewerApp", "migrationFailed"],
        budget: Budget(deaths: 2, powerLosses: 1, faults: 1, stalls: 1),
        atEnd: { ghost in
            recorded(["1.1", "1.2", "1.2-1", "1.3"])(ghost)
            if Files.text(Files.notes) != "NEW NOTES" { ghost.fail("What is recorded is done.") }
        }
    )

    private static func release(_ count: Int) -> [Declaration] {
        let all = [
            one,
            Declaration(version: "1.2") { _, context in
                try Files.rewrite(Files.notes, "NEW NOTES")
                try context.synchronize([Files.notes])
            },
            Declaration(version: "1.2-1", minimumAppVersion: "1.2"),
            Declaration(version: "1.3"),
        ]
        return Array(all.prefix(count))
    }
}

import AppMigrations
import SimulatedSystem

extension Scenario {
    static let interfering = [resetting, forgetting, removedLock, removedFolder]

    /// The mark is set back while a closure may run.
    static let resetting = beside("reset against a running closure", named: "resetting app") {
        ghost,
        migrations in
        ghost.knowledge.isLowered = true
        try migrations.reset(to: "1.0")
    }

    /// The state is moved aside while a closure may run, by a process that has no manager.
    static let forgetting = Scenario(
        name: "forgetState against a running closure",
        versions: ["1.1"],
        setUp: started("1.0"),
        programs: [
            app("1.1", [one]),
            Program(name: "recovery screen") { ghost in
                ghost.knowledge.isLowered = true
                do throws(MigrationError) {
                    let path = try MigrationManager.forgetState(
                        named: Ghost.library,
                        stateDirectory: Ghost.folder
                    )
                    if let path, Machine.isAlive, Files.text(path).map({ !$0.contains("Library") }) ?? true {
                        ghost.fail("A state that is forgotten is kept under the path that is returned.")
                    }
                    return "done"
                } catch {
                    return "\(error.code)"
                }
            },
        ],
        last: app("1.1", [one]),
        endings: ["done", "stateUnreadable"],
        atEnd: recorded(["1.1"], keeping: "Library.migrations.forgotten-")
    )

    /// Somebody removes the lock's file, as tools that tidy up do: while a closure runs, or while nobody has the lock.
    ///
    /// A save looks at the lock's file first. Between that look and the rename nothing could keep a removal away.
    static let removedLock = Scenario(
        name: "a removed lock file",
        versions: ["1.1", "1.2"],
        setUp: started("1.0"),
        programs: [
            app("1.1", [one]),
            Program(name: "a removal of the lock's file") { ghost in
                if !mark("the lock's file is to be removed") { return "" }
                if ghost.isAnyAtWork, !ghost.knowledge.running.contains(where: { $0 != nil }) {
                    return "done"
                }
                ghost.knowledge.isExclusive = false
                ghost.isTroubled = true
                Machine.atOnce { _ = unlink(Ghost.folder + "/Library.migrations.lock") }
                return "done"
            },
            app("1.2", [one, two]),
        ],
        last: app("1.2", [one, two]),
        isLarge: true,
        endings: ["done", "usedByNewerApp"],
        atEnd: recorded(["1.1", "1.2"])
    )

    /// The closure itself removes the folder of the state.
    static let removedFolder = Scenario(
        name: "a removed state folder",
        versions: ["1.1"],
        setUp: started("1.0"),
        programs: [app("1.1", [removing]), app("1.1", [removing])],
        last: app("1.1", [one]),
        isLarge: true,
        atEnd: recorded(["1.1"])
    )

    private static let removing = Declaration(version: "1.1") { ghost, context in
        ghost.knowledge.isLowered = true
        ghost.knowledge.isExclusive = false
        ghost.isTroubled = true
        Machine.atOnce {
            for name in Machine.system.disk.names(in: Ghost.folder) { _ = unlink(Ghost.folder + "/" + name) }
            _ = rmdir(Ghost.folder)
        }
    }
}

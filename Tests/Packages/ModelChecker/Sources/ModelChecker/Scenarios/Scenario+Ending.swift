import AppMigrations
import SimulatedSystem

extension Scenario {
    /// An earlier release of the app has been started here.
    static func started(_ version: String) -> @Sendable (Ghost) -> Void {
        { ghost in _ = app(version, [], firstRun: .freshInstall).run(ghost) }
    }

    /// What holds after a last start that nothing disturbed.
    static func recorded(
        _ versions: [String],
        keeping kept: String? = nil
    ) -> @Sendable (Ghost) -> Void {
        { ghost in
            guard let facts = ghost.facts else { return ghost.fail("After the last start there is a state.") }
            for version in versions where !ghost.knowledge.returned.contains(version) {
                ghost.fail("After one undisturbed start nothing is pending: \(version) never returned.")
            }
            if facts.lastRun != versions.last.flatMap({ AppVersion($0) }) {
                ghost.fail("After one undisturbed start nothing is pending: the mark is \(facts.lastRun).")
            }
            if facts.interrupted != nil { ghost.fail("After one undisturbed start nothing is interrupted.") }
            let left = Machine.system.disk.names(in: Ghost.folder).filter {
                !["Library.migrations.json", "Library.migrations.lock"].contains($0)
                    && !(kept.map($0.hasPrefix) ?? false)
            }
            // A file system that loses a removal and keeps a later rename leaves a snapshot that nothing lists: it waits for
            // the next start that takes the lock.
            if left.contains(where: {
                !$0.hasSuffix(".tmp") && !(ghost.hasLostPower && $0.hasSuffix(".snapshot"))
            }) {
                ghost.fail("After one undisturbed start nothing is left over: \(left).")
            }
        }
    }
}

extension Scenario {
    static let all = starting + looking + refusing + protecting + [abandoning, losing] + interfering
}

import AppMigrations
import SimulatedSystem

extension Scenario {
    /// An earlier release of the app has been started here.
    static func started(_ version: String) -> @Sendable (Ghost) -> Void {
        { ghost in _ = app(version, [], firstRun: .freshInstall).run(ghost) }
    }

    /// Checks the rules of a last start that nothing disturbed.
    static func recorded(_ versions: [String], keeping kept: String? = nil) -> @Sendable (Ghost) -> Void {
        { ghost in
            for manager in ghost.managers { requireRecorded(versions, by: manager, ghost) }
            let own = ghost.managers.flatMap { ["\($0).migrations.json", "\($0).migrations.lock"] }
            let left = Machine.system.disk.names(in: Ghost.folder).filter {
                !own.contains($0) && !(kept.map($0.hasPrefix) ?? false)
            }
            // A save that was killed leaves its temporary file until the next one.
            if left.contains(where: { !$0.hasSuffix(".tmp") }) {
                ghost.fail("After one undisturbed start nothing is left over: \(left).")
            }
        }
    }

    private static func requireRecorded(_ versions: [String], by manager: String, _ ghost: Ghost) {
        guard let facts = ghost.facts(of: manager) else {
            return ghost.fail("After the last start there is a state.")
        }
        for version in versions {
            if ghost.knowledge.returned.contains(Ghost.migration(version, of: manager)) { continue }
            ghost.fail("After one undisturbed start nothing is pending: \(version) never returned.")
        }
        if facts.lastRun != versions.last.flatMap({ AppVersion($0) }) {
            ghost.fail("After one undisturbed start nothing is pending: the mark is \(facts.lastRun).")
        }
        if facts.interrupted != nil { ghost.fail("After one undisturbed start nothing is interrupted.") }
    }
}

extension Scenario {
    static let all =
        starting + [installing] + adding + looking + refusing + writing + replacing + [using] + interfering
}

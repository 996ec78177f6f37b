import AppMigrations
import SimulatedSystem

/// An all-seeing observer of the processes, which checks the rules that hold in every state.
final class Ghost {
    static let folder = "/app/state"
    /// The manager that every scenario has.
    static let library = "Library"
    static let stateFile = folder + "/Library.migrations.json"

    /// The observer's knowledge, by version; a version of another manager than the library's has that name before it.
    struct Knowledge {
        /// The closure that each process is in.
        var running: [String?] = []
        /// How often each closure began, since its migration was recorded last.
        var begins: [String: Int] = [:]
        /// The closures that returned.
        var returned: Set<String> = []
        /// The newest version of each manager that a call has returned for: it may not be forgotten any more.
        var acknowledged: [String: String] = [:]
        /// How many processes died, and how many of them in a closure.
        var deaths = 0
        var deathsInClosures = 0
        /// The scenario's own counts.
        var notes: [String: Int] = [:]
        /// True once the scenario has removed the state, or lowered its mark.
        var isLowered = false
        /// True while one closure at a time is promised: until the lock's file is removed.
        var isExclusive = true
    }

    var knowledge = Knowledge()
    /// True once something went wrong that the processes can notice: then they may end with errors.
    var isTroubled = false
    var isLast = false
    var hasLostPower = false
    private(set) var violation: String?
    private var sights: [Sight] = []

    /// The last look at a manager's state.
    private struct Sight {
        let manager: String
        let stateFile: String
        var mark: AppVersion?
        var launched: AppVersion?
        var seen: (node: Int, hash: UInt64)?
    }

    func reset(_ processes: Int) {
        knowledge = Knowledge(running: Array(repeating: nil, count: processes))
        (isTroubled, isLast, hasLostPower) = (false, false, false)
        violation = nil
        sights = managers.map { Sight(manager: $0, stateFile: Self.folder + "/\($0).migrations.json") }
    }

    func fail(_ sentence: String) {
        if violation == nil { violation = sentence }
    }

    var hash: UInt64 {
        var hash: UInt64 = isTroubled ? 1 : 0
        for version in knowledge.running { hash = Machine.mix(hash, Self.hash(version ?? "")) }
        for (version, count) in knowledge.begins { hash &+= Machine.mix(Self.hash(version), UInt64(count)) }
        for version in knowledge.returned { hash &+= Machine.mix(Self.hash(version), 1 << 40) }
        for (note, count) in knowledge.notes {
            hash &+= Machine.mix(Self.hash(note), UInt64(count) | 1 << 41)
        }
        for (manager, version) in knowledge.acknowledged {
            hash &+= Machine.mix(Self.hash(manager), UInt64(Names.number(version)) | 1 << 42)
        }
        hash = Machine.mix(hash, UInt64(knowledge.deaths << 8 | knowledge.deathsInClosures))
        return Machine.mix(hash, (knowledge.isLowered ? 2 : 3) | (knowledge.isExclusive ? 8 : 4))
    }

    private static func hash(_ text: String) -> UInt64 { UInt64(Names.number(text)) }

    var facts: StateFacts? { facts(of: Self.library) }

    func facts(of manager: String) -> StateFacts? {
        Machine.system.disk.content(Self.folder + "/\(manager).migrations.json").flatMap(StateFacts.of)
    }

    /// Looks at each state file after every change.
    func look() {
        for index in sights.indices { look(&sights[index]) }
    }

    private func look(_ sight: inout Sight) {
        guard let number = Machine.system.disk.find(sight.stateFile),
            let content = Machine.system.disk.content(sight.stateFile)
        else {
            if sight.mark != nil, !knowledge.isLowered {
                fail("Once there is a state it is there at every moment.")
            }
            sight.seen = nil
            return
        }
        if let seen = sight.seen, seen == (number, content.hash) { return }
        sight.seen = (number, content.hash)
        guard let facts = StateFacts.of(content) else {
            return fail("The state file is a whole state at every moment.")
        }
        if let mark = sight.mark, facts.lastRun < mark, !knowledge.isLowered {
            fail("The mark of what has run never falls: it was \(mark) and is \(facts.lastRun).")
        }
        sight.mark = facts.lastRun
        if let launched = sight.launched, !knowledge.isLowered {
            let found = facts.launched ?? .zero
            if found < launched {
                fail("The newest version that was launched never falls: it was \(launched) and is \(found).")
            }
        }
        sight.launched = facts.launched
        for version in versions where AppVersion(version).map({ $0 <= facts.lastRun }) ?? false {
            let migration = Self.migration(version, of: sight.manager)
            if knowledge.returned.contains(migration) { continue }
            fail(
                "A migration is recorded only after it returned, and none is skipped: \(migration) did not return."
            )
        }
        for version in late where facts.history.contains(version) {
            if knowledge.returned.contains(Self.migration(version, of: sight.manager)) { continue }
            fail(
                "A migration that was added late is recorded only after it returned: \(version) did not return."
            )
        }
        for version in facts.history {
            knowledge.begins[Self.migration(version, of: sight.manager)] = nil
        }
    }

    /// The versions that some app of the scenario declares with each manager, all of which are to run.
    let versions: [String]
    let managers: [String]
    /// The versions below the last-run version, which only the history says to have run.
    let late: [String]

    init(_ versions: [String], _ managers: [String] = [library], late: [String] = []) {
        self.versions = versions
        self.managers = managers
        self.late = late
    }

    static func migration(_ version: String, of manager: String) -> String {
        manager == library ? version : "\(manager) \(version)"
    }

    private static func manager(of migration: String) -> String {
        migration.contains(" ") ? String(migration.prefix { $0 != " " }) : library
    }

    /// True if a live process has the lock of a state.
    var isAnyAtWork: Bool {
        managers.contains {
            Machine.system.disk.find(Self.folder + "/\($0).migrations.lock").map(Machine.system.isHeld)
                ?? false
        }
    }
}

/// The events of the processes.
extension Ghost {
    func begins(_ version: String, of manager: String, attempt: Int) {
        if late.contains(version), facts(of: manager)?.history.contains(version) == true {
            fail("A migration that was added late never runs again once it is recorded: \(version).")
        }
        let version = Self.migration(version, of: manager)
        let process = Machine.current
        let isRunBySame = { (other: Int) in
            let running = self.knowledge.running[other]
            return other != process && running.map(Self.manager) == manager
        }
        if knowledge.isExclusive, let other = knowledge.running.indices.first(where: isRunBySame) {
            fail(
                "One closure of a manager runs at a time: "
                    + "processes \(other + 1) and \(process + 1) are in one."
            )
        }
        knowledge.running[process] = version
        let count = (knowledge.begins[version] ?? 0) + 1
        knowledge.begins[version] = count
        if knowledge.isLowered { return }
        if attempt < count || (!isTroubled && attempt != count) {
            fail(
                "Each start of a closure is counted: this is start \(count) of \(version), and it is told \(attempt)."
            )
        }
        if knowledge.returned.contains(version), !isTroubled {
            fail("A migration that returned and was recorded runs no second time: \(version).")
        }
    }

    func ends(returning: Bool) {
        let process = Machine.current
        if let version = knowledge.running[process], returning { knowledge.returned.insert(version) }
        knowledge.running[process] = nil
    }

    /// The call that ran this version came back: whatever happens, it is recorded.
    func acknowledge(_ version: String, of manager: String) {
        if late.contains(version) { return knowledge.notes["acknowledged \(version)"] = 1 }
        knowledge.acknowledged[manager] = version
    }

    /// A declaration ran nothing and threw nothing, so its version has run.
    func passesOver(_ version: String, of manager: String) {
        if knowledge.isLowered { return }
        guard let declared = AppVersion(version), let facts = facts(of: manager) else { return }
        if late.contains(version), !facts.history.contains(version) {
            fail("A version that was added late is run or refused: \(version) was passed over.")
        }
        if facts.lastRun < declared {
            fail(
                "A version above the last-run one is run or refused: \(version) was passed over at \(facts.lastRun)."
            )
        }
    }

    func died(_ process: Int) {
        if process >= knowledge.running.count { return }
        knowledge.deaths += 1
        if knowledge.running[process] != nil { knowledge.deathsInClosures += 1 }
        knowledge.running[process] = nil
    }

    func lostPower() {
        hasLostPower = true
        for index in sights.indices {
            sights[index].mark = nil
            sights[index].launched = nil
        }
        look()
        if knowledge.isLowered { return }
        for version in late where knowledge.notes["acknowledged \(version)"] != nil {
            if facts?.history.contains(version) == true { continue }
            fail("What a call has said to be recorded survives a power loss: \(version), added late.")
        }
        for manager in managers {
            guard let version = knowledge.acknowledged[manager].flatMap({ AppVersion($0) }) else { continue }
            if let facts = facts(of: manager), facts.lastRun >= version { continue }
            fail("What a call has said to be recorded survives a power loss: \(version).")
        }
    }
}

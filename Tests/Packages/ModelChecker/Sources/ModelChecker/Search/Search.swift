import SimulatedSystem

/// Searches every execution of a scenario, depth first, and cuts off what it has seen.
final class Search: Searching, @unchecked Sendable {
    let scenario: Scenario
    var transitions = 0
    var executions = 0
    var depth = 0
    var isComplete = true
    var seen: [UInt64: Int] = [:]
    var generator: SplitMix?
    private var deadline = Double.infinity

    /// The names that are known to change, and files to be shared: calls with them are choices.
    private(set) var isAnyFileShared = false
    private var contendedNames: Set<Name> = []
    private var contendedPaths: [String: Bool] = [:]
    private(set) var beginnings = 1

    func isContended(_ path: String) -> Bool {
        if let known = contendedPaths[path] { return known }
        let isContended = path.split(separator: "/").contains {
            contendedNames.contains(Names.number(String($0)))
        }
        contendedPaths[path] = isContended
        return isContended
    }

    /// True if the search has to begin again, since calls were taken for independent that aren't.
    private func hasLearned() -> Bool {
        if Machine.changedNames.isSubset(of: contendedNames), Machine.isAnyFileShared == isAnyFileShared {
            return false
        }
        contendedNames.formUnion(Machine.changedNames)
        isAnyFileShared = Machine.isAnyFileShared
        contendedPaths = [:]
        beginnings += 1
        return true
    }

    init(_ scenario: Scenario) { self.scenario = scenario }

    /// Searches with at most `allowance` deviations from going straight on, or all.
    func run(allowance: Int = Int.max, seconds: Double = .infinity) -> Finding? {
        let execution = Execution(scenario, self)
        execution.choices = Choices(allowance: allowance)
        seen.removeAll(keepingCapacity: true)
        Machine.changedNames = contendedNames
        Machine.isAnyFileShared = isAnyFileShared
        deadline = Baton.seconds() + seconds
        while true {
            if let finding = once(execution) { return finding }
            if executions % 64 == 0, Baton.seconds() > deadline {
                isComplete = false
                return nil
            }
            if hasLearned() {
                execution.choices = Choices(allowance: allowance)
                seen.removeAll(keepingCapacity: true)
                (executions, transitions, depth) = (0, 0, 0)
            } else if !execution.choices.advance() {
                return nil
            }
        }
    }

    /// Walks at random until the time is over.
    func walk(seed: UInt64, seconds: Double) -> Finding? {
        let execution = Execution(scenario, self)
        generator = SplitMix(seed)
        deadline = Baton.seconds() + seconds
        while Baton.seconds() < deadline {
            execution.choices = Choices(allowance: Int.max)
            if let finding = once(execution) { return finding }
        }
        return nil
    }

    private func once(_ execution: Execution) -> Finding? {
        execution.run()
        executions += 1
        depth = max(depth, execution.depth)
        guard let sentence = execution.ghost.violation else { return nil }
        return Finding(sentence: sentence, choices: execution.choices.taken, trace: [])
    }

    /// Runs a finding again, and writes down who did what.
    func explain(_ finding: Finding) -> Finding {
        generator = nil
        let execution = Execution(scenario, self)
        var taken = finding.choices
        // A choice that doesn't matter is made the usual one.
        for index in taken.indices.reversed() where taken[index] != 0 {
            var shorter = taken
            shorter[index] = 0
            if let found = again(execution, shorter), found == finding.sentence { taken = shorter }
        }
        execution.trace = []
        _ = again(execution, taken)
        return Finding(sentence: finding.sentence, choices: taken, trace: execution.trace ?? [])
    }

    private func again(_ execution: Execution, _ taken: [Int]) -> String? {
        execution.choices = Choices(repeating: taken)
        if execution.trace != nil { execution.trace = [] }
        seen.removeAll()
        execution.run()
        return execution.ghost.violation
    }
}

final class SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// Mostly the first: a walk that changes the process at each call gets nowhere.
    func choose(_ count: Int) -> Int { next() % 4 != 0 ? 0 : Int(next() % UInt64(count)) }

    private func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Machine.mix(state, 0)
    }
}

import SimulatedSystem

/// Searches every execution of a fleet's scenario, depth first, and cuts off what it has seen.
final class FleetSearch: Searching {
    let scenario: FleetScenario
    var transitions = 0
    private(set) var executions = 0
    private(set) var depth = 0
    private(set) var isComplete = true
    var seen: [UInt64: Int] = [:]
    var generator: SplitMix?

    init(_ scenario: FleetScenario) {
        self.scenario = scenario
        Jobs.takeOver()
    }

    /// Searches with at most `allowance` deviations from going straight on, or all; gives what was found.
    func run(allowance: Int, seconds: Double) -> Finding? {
        let deadline = Baton.seconds() + seconds
        var choices = Choices(allowance: allowance)
        repeat {
            let execution = FleetExecution(scenario, self, choices)
            if let finding = once(execution) { return finding }
            choices = execution.choices
            if executions % 64 == 0, Baton.seconds() > deadline {
                isComplete = false
                return nil
            }
        } while choices.advance()
        return nil
    }

    /// Walks at random until the time is over.
    func walk(seed: UInt64, seconds: Double) -> Finding? {
        generator = SplitMix(seed)
        let deadline = Baton.seconds() + seconds
        while Baton.seconds() < deadline {
            let execution = FleetExecution(scenario, self, Choices(allowance: Int.max))
            if let finding = once(execution) { return finding }
        }
        return nil
    }

    private func once(_ execution: FleetExecution) -> Finding? {
        execution.run()
        executions += 1
        depth = max(depth, execution.steps)
        return execution.ghost.violation.map {
            Finding(sentence: $0, choices: execution.choices.taken, trace: [])
        }
    }

    /// Runs a finding again, and writes down which host did what.
    func explain(_ finding: Finding) -> Finding {
        generator = nil
        var taken = finding.choices
        // A choice that doesn't matter is made the usual one.
        for index in taken.indices.reversed() where taken[index] != 0 {
            var shorter = taken
            shorter[index] = 0
            if again(shorter).ghost.violation == finding.sentence { taken = shorter }
        }
        let execution = again(taken, isTraced: true)
        return Finding(sentence: finding.sentence, choices: taken, trace: execution.fleet.trace ?? [])
    }

    private func again(_ taken: [Int], isTraced: Bool = false) -> FleetExecution {
        let execution = FleetExecution(scenario, self, Choices(repeating: taken))
        execution.isTraced = isTraced
        seen.removeAll()
        execution.run()
        return execution
    }
}

import SimulatedSystem

let arguments = Arguments(CommandLine.arguments)
Machine.plantedBug = arguments.planted
ProcessMemory.record(processes: 4) {
    let ghost = Ghost([])
    ghost.reset(1)
    Execution.begin(0, start: 0)
    _ = Scenario.firstRun.last.run(ghost)
}
let crowds: [any Searchable] = arguments.mode == .walk ? [Scenario.crowd] : []
let scenarios = arguments.chosen(of: crowds + Scenario.all + FleetScenario.all)
let failures = SystemCheck.failures()
for sentence in failures { say("The simulated system doesn't do what a system does: \(sentence).") }
if !failures.isEmpty { end(1) }
var isSound = true
switch arguments.mode {
case .search:
    for scenario in scenarios {
        let plans =
            arguments.budget == Scenario.Budget()
            ? scenario.plans(arguments.isFull) : [Plan(arguments)]
        for var plan in plans {
            plan.seconds = arguments.seconds
            if !Campaign.search(scenario, plan) { isSound = false }
        }
    }
case .planted:
    isSound = scenarios.contains { Campaign.isFound(in: $0, arguments) }
    if !isSound { say("NOT FOUND: \(arguments.planted)") }
case .walk:
    for scenario in scenarios where !Campaign.walk(scenario, arguments) { isSound = false }
case .trace:
    for case let scenario as Scenario in scenarios { Campaign.trace(scenario) }
}
end(isSound ? 0 : 1)

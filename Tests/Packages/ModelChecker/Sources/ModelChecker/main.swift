import SimulatedSystem

let arguments = Arguments(CommandLine.arguments)
ProcessMemory.record(processes: 4) {
    let ghost = Ghost([])
    ghost.reset(1)
    Execution.begin(0, start: 0)
    _ = Scenario.firstRun.last.run(ghost)
}
for scenario in Scenario.starting + Scenario.protecting + Scenario.interfering {
    if let name = arguments.name, !scenario.name.contains(name) { continue }
    var scenario = scenario
    scenario.budget = arguments.budget
    let search = Search(scenario)
    let began = Baton.seconds()
    let finding = search.run(allowance: arguments.allowance, seconds: arguments.seconds)
    let seconds = Baton.seconds() - began
    print(
        "\(scenario.name): \(search.executions) executions, \(search.states) states, \(search.transitions) transitions, depth \(search.depth), \(seconds) s, \(search.isComplete)"
    )
    if let finding {
        print(finding.sentence)
        for line in search.explain(finding).trace { print("  " + line) }
    }
    if arguments.isTracing {
        let execution = Execution(scenario, search)
        execution.trace = []
        execution.choices = Choices(repeating: [])
        execution.run()
        for line in execution.trace ?? [] { print("  " + line) }
    }
    flushOutput()
}

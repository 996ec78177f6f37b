import SimulatedSystem

/// One search of a scenario: how much may go wrong, and how far it deviates from going straight on.
struct Plan {
    let name: String
    let budget: Scenario.Budget
    var allowance = Int.max
    var seconds = Double.infinity

    init(_ name: String, _ budget: Scenario.Budget, allowance: Int = Int.max) {
        self.name = name
        self.budget = budget
        self.allowance = allowance
    }

    init(_ arguments: Arguments) {
        self.init("as asked", arguments.budget, allowance: arguments.allowance)
    }

}

extension Scenario: Searchable {
    var budgetOfWalks: Budget { Budget(deaths: 2, powerLosses: 1, faults: 1, stalls: 1) }

    func searching() -> any Searching { Search(self) }

    func plans(_ isFull: Bool) -> [Plan] {
        let small = isLarge && !isFull ? 4 : Int.max
        let deviations = isFull ? Int.max : isLarge ? 2 : 3
        var plans = [
            Plan("every interleaving", .init(), allowance: small),
            Plan("a death", .init(deaths: 1), allowance: deviations),
            Plan("two deaths", .init(deaths: 2), allowance: isFull ? 4 : 2),
            Plan("a power loss", .init(powerLosses: 1), allowance: isLarge ? deviations : small),
            Plan("an error of a call", .init(faults: 1), allowance: isFull ? Int.max : 2),
            Plan("a stall", .init(stalls: 1), allowance: deviations),
        ]
        if isFull || !isLarge {
            plans.append(
                Plan("a death and a power loss", .init(deaths: 1, powerLosses: 1), allowance: isFull ? 4 : 2)
            )
            plans.append(Plan("an error and a death", .init(deaths: 1, faults: 1), allowance: isFull ? 4 : 2))
        }
        if isFull { return plans }
        return plans.map { plan in
            let isOrder = plan.budget == Budget()
            let most = isOrder ? deviationsOfOrder ?? self.deviations : self.deviations
            return Plan(plan.name, plan.budget, allowance: min(plan.allowance, most))
        }
    }
}

enum Campaign {
    /// Searches, and says what was searched; `false` where something was found.
    static func search(_ scenario: any Searchable, _ plan: Plan) -> Bool {
        var scenario = scenario
        scenario.budget = plan.budget
        let search = scenario.searching()
        let began = Baton.seconds()
        let finding = search.run(allowance: plan.allowance, seconds: plan.seconds)
        let seconds = Baton.seconds() - began
        let extent =
            !search.isComplete
            ? "not finished"
            : plan.allowance == Int.max ? "all" : "all with up to \(plan.allowance) deviations"
        say(
            "\(scenario.name); \(plan.name); \(extent); \(search.states) states; \(search.executions) executions; "
                + "\(search.transitions) transitions; depth \(search.depth); \(rounded(seconds)) s"
        )
        if let finding { tell(search, finding) }
        return finding == nil
    }

    /// True if a planted bug is found, with as few deviations from going straight on as it takes.
    static func isFound(in scenario: any Searchable, _ arguments: Arguments) -> Bool {
        var scenario = scenario
        scenario.budget = arguments.budget
        let began = Baton.seconds()
        for allowance in 0...5 {
            let search = scenario.searching()
            guard let finding = search.run(allowance: allowance, seconds: 20) else { continue }
            say(
                "found: \(arguments.planted), in \(rounded(Baton.seconds() - began)) s, with \(allowance) deviations"
            )
            tell(search, finding)
            return true
        }
        return false
    }

    /// Walks at random, with everything that may go wrong.
    static func walk(_ scenario: any Searchable, _ arguments: Arguments) -> Bool {
        var scenario = scenario
        scenario.budget = scenario.budgetOfWalks
        let search = scenario.searching()
        let finding = search.walk(seed: arguments.seed, seconds: arguments.seconds)
        say("\(scenario.name); walked at random from \(arguments.seed): \(search.executions) executions")
        if let finding { tell(search, finding) }
        return finding == nil
    }

    /// Says what happens where nothing goes wrong and each process runs to its end.
    static func trace(_ scenario: Scenario) {
        say(scenario.name)
        let execution = Execution(scenario, Search(scenario))
        execution.trace = []
        execution.choices = Choices(repeating: [])
        execution.run()
        for line in execution.trace ?? [] { say("    " + line) }
    }

    private static func tell(_ search: any Searching, _ finding: Finding) {
        say("  VIOLATED: \(finding.sentence)")
        for line in search.explain(finding).trace { say("    " + line) }
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 100).rounded() / 100 }
}

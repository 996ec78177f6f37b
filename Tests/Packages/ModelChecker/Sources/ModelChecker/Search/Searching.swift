/// A violation, and the choices that lead to it.
struct Finding {
    let sentence: String
    let choices: [Int]
    var trace: [String]
}

/// The search of a scenario, as a campaign sees it.
protocol Searching: AnyObject {
    /// The allowance that each state was searched with.
    var seen: [UInt64: Int] { get set }
    /// The numbers that lead a walk.
    var generator: SplitMix? { get set }
    var executions: Int { get }
    var transitions: Int { get }
    var depth: Int { get }
    var isComplete: Bool { get }

    /// Searches with at most `allowance` deviations from going straight on, or all.
    func run(allowance: Int, seconds: Double) -> Finding?

    /// Walks at random until the time is over.
    func walk(seed: UInt64, seconds: Double) -> Finding?

    /// Runs a finding again, and writes down what happened.
    func explain(_ finding: Finding) -> Finding
}

extension Searching {
    var states: Int { seen.count }

    /// True if a state is new, or was searched with a smaller allowance only.
    func isNew(_ hash: UInt64, left: Int) -> Bool {
        if generator != nil { return true }
        if let earlier = seen[hash], earlier >= left { return false }
        seen[hash] = left
        return true
    }

    func random(_ count: Int) -> Int? { generator?.choose(count) }
}

/// A scenario that can be searched, with the budget of its troubles.
protocol Searchable {
    var name: String { get }
    var budget: Scenario.Budget { get set }
    /// How much may go wrong in a walk.
    var budgetOfWalks: Scenario.Budget { get }

    func searching() -> any Searching

    /// The searches of CI, in minutes; those by hand go further, and take hours.
    func plans(_ isFull: Bool) -> [Plan]
}

/// The choices of one execution, and which comes next: depth first, each execution from the beginning.
struct Choices {
    struct Choice {
        var taken: Int
        let count: Int
        /// False if each choice but the first takes 1 from the allowance of deviations.
        let isFree: Bool
    }

    private(set) var path: [Choice] = []
    private(set) var position = 0
    /// How many choices may differ from going straight on.
    let allowance: Int

    init(allowance: Int) { self.allowance = allowance }

    /// A given sequence, to be run again.
    init(repeating taken: [Int]) {
        path = taken.map { Choice(taken: $0, count: $0 + 1, isFree: false) }
        allowance = Int.max
    }

    var isRepeating: Bool { position < path.count }

    var taken: [Int] { path.map(\.taken) }

    var left: Int {
        if allowance == Int.max { return allowance }
        return allowance - path[..<position].count { !$0.isFree && $0.taken != 0 }
    }

    mutating func repeated(among count: Int) -> Int {
        position += 1
        return min(path[position - 1].taken, count - 1)
    }

    /// Takes the first, or what a walk gives, which is free.
    mutating func begin(_ count: Int, isFree: Bool, random: Int? = nil) -> Int {
        let isFree = isFree || random != nil
        let isBound = !isFree && left <= 0
        path.append(Choice(taken: random ?? 0, count: isBound ? 1 : count, isFree: isFree))
        position += 1
        return random ?? 0
    }

    /// Goes to the next execution; `false` when there is none.
    mutating func advance() -> Bool {
        path.removeLast(path.count - position)
        position = 0
        while let last = path.last {
            if last.taken + 1 < last.count {
                path[path.count - 1].taken += 1
                return true
            }
            path.removeLast()
        }
        return false
    }
}

import Glibc

/// The command line of the program.
struct Arguments {
    enum Mode: String { case search, planted, walk, trace }

    var mode = Mode.search
    /// Parts of the names of those scenarios that are asked for; all are, where there is none.
    private(set) var only: [String] = []
    /// A part of the names of those that aren't.
    private var without: String?
    var budget = Scenario.Budget()
    var allowance = Int.max
    /// The time of one search, or one walk.
    var seconds = Double.infinity
    var seed: UInt64 = 1
    var planted = ""
    var isFull = false

    init(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        if let mode = rest.popFirst().flatMap(Mode.init) { self.mode = mode }
        while let option = rest.popFirst() {
            if option == "--full" {
                isFull = true
                continue
            }
            guard let value = rest.popFirst() else { Self.refuse(option) }
            switch option {
            case "--planted": planted = value
            case "--only": only.append(value)
            case "--without": without = value
            case "--deaths": budget.deaths = Int(value) ?? 0
            case "--power": budget.powerLosses = Int(value) ?? 0
            case "--faults": budget.faults = Int(value) ?? 0
            case "--stalls": budget.stalls = Int(value) ?? 0
            case "--allowance": allowance = Int(value) ?? 0
            case "--seconds": seconds = Double(value) ?? 0
            case "--seed": seed = UInt64(value) ?? 1
            default: Self.refuse(option)
            }
        }
    }

    /// The scenarios that are asked for; a name that none has is a mistake.
    func chosen(of scenarios: [any Searchable]) -> [any Searchable] {
        for name in only where !scenarios.contains(where: { $0.name.contains(name) }) {
            Self.refuse("--only \(name): no scenario has this name")
        }
        return scenarios.filter { scenario in
            if let without, scenario.name.contains(without) { return false }
            return only.isEmpty || only.contains { scenario.name.contains($0) }
        }
    }

    private static func refuse(_ option: String) -> Never {
        print(
            "ModelChecker search|planted|walk|trace [--only NAME]... [--without NAME] [--deaths N] [--power N] [--faults N]"
        )
        print(
            "    [--stalls N] [--allowance N] [--seconds N] [--seed N] [--planted BUG] [--full]; not \(option)"
        )
        exit(2)
    }
}

func say(_ text: String) {
    print(text)
    fflush(nil)
}

func end(_ code: Int32) -> Never { exit(code) }

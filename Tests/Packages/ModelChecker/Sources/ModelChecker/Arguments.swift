import Glibc

struct Arguments {
    var name: String?
    var budget = Scenario.Budget()
    var allowance = Int.max
    var seconds = 60.0
    var isTracing = false

    init(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        while let option = rest.popFirst() {
            if option == "--trace" {
                isTracing = true
                continue
            }
            guard let value = rest.popFirst() else { break }
            switch option {
            case "--only": name = value
            case "--deaths": budget.deaths = Int(value) ?? 0
            case "--power": budget.powerLosses = Int(value) ?? 0
            case "--faults": budget.faults = Int(value) ?? 0
            case "--stalls": budget.stalls = Int(value) ?? 0
            case "--allowance": allowance = Int(value) ?? 0
            case "--seconds": seconds = Double(value) ?? 0
            default: break
            }
        }
    }
}

func flushOutput() { fflush(nil) }

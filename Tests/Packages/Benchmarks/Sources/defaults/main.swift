import CMeasure
import Foundation

// An app's start without this library, with the checks of the manager that the library follows: the initial and the last
// version in the user defaults, and for each version a regular expression and numeric comparisons of strings, with the app's
// version, the version declared before, the initial and the last one. defaults store COUNT is its first start; defaults COUNT is
// a later one and prints nanoseconds.

let pattern = #"^[0-9]+(\.[0-9]+)*(-[0-9]+)?$"#
let (initialKey, lastKey) = ("initialVersion-Library", "lastVersion-Library")

struct InvalidVersion: Error {
    let version: String
}

func isGreater(_ left: String, _ right: String) -> Bool {
    left.compare(right, options: .numeric) == .orderedDescending
}

func pending(_ versions: [String], current: String) throws -> Int? {
    var previous: String?
    var pending = 0
    for version in versions {
        let isValid = version.range(of: pattern, options: .regularExpression) != nil
        let release = version.components(separatedBy: "-")[0]
        let isInOrder = previous.map { isGreater(version, $0) } ?? true
        guard isValid, isInOrder, !isGreater(release, current) else { throw InvalidVersion(version: version) }
        previous = version
        guard let initial = UserDefaults.standard.string(forKey: initialKey),
            let last = UserDefaults.standard.string(forKey: lastKey)
        else { return nil }
        if isGreater(version, initial), isGreater(version, last) { pending += 1 }
    }
    return pending
}

let arguments = CommandLine.arguments.dropFirst()
let count = arguments.last.flatMap { Int($0) } ?? 0
if arguments.first == "store" {
    UserDefaults.standard.set("1.0", forKey: initialKey)
    UserDefaults.standard.set("1.\(count)", forKey: lastKey)
    print(UserDefaults.standard.synchronize() ? 0 : -1)
} else {
    let versions = (0..<count).map { "1.\($0 + 1)" }
    _ = measure_now()
    let began = measure_now()
    let found = try pending(versions, current: "1.\(count)")
    let ended = measure_now()
    print(found == 0 ? Int(ended - began) : -1)
}

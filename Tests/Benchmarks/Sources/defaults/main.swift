import CMeasure
import Foundation

// What an app writes by hand: the version in the user defaults, a regular expression and a numeric comparison of strings
// for each version. defaults COUNT prints nanoseconds.

let count = Int(CommandLine.arguments[1]) ?? 0
let versions = (0..<count).map { "1.\($0 + 1)" }
let began = measure_now()
let defaults = UserDefaults.standard
let last = defaults.string(forKey: "lastVersion") ?? "1.\(count)"
let grammar = #"^[0-9]+(\.[0-9]+)*(-[0-9]+)?$"#
var pending = 0
for version in versions {
    guard version.range(of: grammar, options: .regularExpression) != nil else { exit(1) }
    if version.compare(last, options: .numeric) == .orderedDescending { pending += 1 }
}
let ended = measure_now()
print(pending == 0 ? ended - began : 0)

// Holds the splitter of scripts against the server: <connection> <count> [<seed>]. Each random script runs as a whole, as
// `PQexec` sends it, and statement by statement; both have to give the same rows, errors and effects.
//
// The promise: the splitter finds in each script the statements that the server finds. The scripts are made by chance from quotes,
// comments and bodies in each other; `histories` has what people write, which seldom nests them. Without this, half a statement
// could run, or two as one.

import CPostgres
import Splitter

enum Failure: Error {
    case usage, different(Int)
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let count = Int(arguments[2]) else { throw Failure.usage }
var scripts = RandomScript(seed: arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1)
var comparison = try Comparison(Server(arguments[1]))
var different = 0
for number in 1...count {
    let script = scripts.next()
    if let difference = try comparison.difference(of: script) {
        different += 1
        if different <= 10 { print("script \(number): \(script.debugDescription)\n\(difference)\n") }
    }
}
guard different == 0 else { throw Failure.different(different) }
print(
    "postgres scripts: \(count) scripts as a whole and as \(comparison.statements) statements, alike; \(comparison.succeeded)"
        + " ran to their end, \(comparison.refused) were refused before they ran"
)

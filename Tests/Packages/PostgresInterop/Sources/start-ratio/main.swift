// What a start costs where nothing is pending, against one SELECT of the same row by the same connection: <connection> [--ci].
//
// Both are timed in turn, so that whatever else the machine does meets both. With --ci a ratio above its bound is an error.

import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection

enum Failure: Error {
    case usage
    case notOneRow
    case slow(Double)
}

guard CommandLine.arguments.count > 1 else { throw Failure.usage }
// On the pool's threads, as in a server: the main actor would add a change of threads to each call.
try await Task.detached { try await Measurement(CommandLine.arguments[1]).run() }.value

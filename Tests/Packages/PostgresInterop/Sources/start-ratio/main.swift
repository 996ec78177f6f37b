// The cost of a start with nothing pending, beside one SELECT of the same row by the same connection, and the same of 50 at
// once; the cost of a migration with `in:` beside a claim and a transaction by hand: <connection> [--ci].
//
// The SELECT is word for word that of the store and gives the same document: as many bytes come over the wire and are made into
// values by the same code. So what is left is the start's own. The medians of five series are compared, since a mean would tell of
// other processes, and the lowest ratio counts: other processes take the caches, of which a start needs more than a SELECT.
// With --ci a ratio above its bound is an error.

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
try await Task.detached {
    try await Measurement(CommandLine.arguments[1]).run()
    try await CrowdMeasurement(CommandLine.arguments[1]).run()
    try await TransactionMeasurement(CommandLine.arguments[1]).run()
}.value

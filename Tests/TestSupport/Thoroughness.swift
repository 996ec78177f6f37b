import Foundation

/// How many seeds, pairs and start points the tests try: a few in an ordinary run, all of them at night.
///
/// `.ci/night tests` sets `APP_MIGRATIONS_EVERYTHING`. Each test runs in both, so a broken rule is red in both: only the
/// number of its cases differs.
package enum Thoroughness {
    package static let isEverything = ProcessInfo.processInfo.environment["APP_MIGRATIONS_EVERYTHING"] != nil

    /// The first value in an ordinary run, and the second if everything is to be tried.
    package static func ordinarily<Value>(
        _ few: @autoclosure () -> Value,
        everything: @autoclosure () -> Value
    ) -> Value {
        isEverything ? everything() : few()
    }
}

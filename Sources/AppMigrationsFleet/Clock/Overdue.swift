internal import AppMigrations

/// The error of a call that has not ended before its deadline.
struct Overdue: Error, CustomStringConvertible {
    let limit: Duration

    var description: String {
        limit > .zero
            ? "there was no answer within \(limit.description)" : "there was no time left for an answer"
    }
}

internal import AppMigrations
internal import AppMigrationsSQL

/// How a host lost its lease.
enum LeaseLoss: Sendable {
    case notRenewed(Duration)
    /// Another host wrote the document. The owner is `nil` if the document has no lease now.
    case taken(by: String?)
    /// The store has an older document than this host has saved.
    case setBack
}

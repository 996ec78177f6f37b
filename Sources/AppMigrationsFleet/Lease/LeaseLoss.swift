/// How a host lost its lease.
enum LeaseLoss: Sendable {
    /// The lease could not be renewed for this long.
    case notRenewed(Duration)
    /// Another host wrote the document. The owner is `nil` if the document has no lease now.
    case taken(by: String?)
    /// The document in the store is older than the one that this host has saved.
    case documentIsOlder
}

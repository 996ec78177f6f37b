/// How a host lost its lease.
enum LeaseLoss: Sendable {
    /// It could not be renewed for that long.
    case notRenewed(Duration)
    /// Another host wrote the document; `nil` where no lease is in it now.
    case taken(by: String?)
}

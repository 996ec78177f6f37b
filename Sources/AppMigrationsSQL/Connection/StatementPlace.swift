/// Where a server of PostgreSQL runs a statement.
package enum StatementPlace: Sendable {
    /// Outside of a transaction.
    ///
    /// A pooler may give each of these short statements to another process.
    case outside
    /// In a transaction, which one process of the server has from its beginning to its end.
    case transaction(ServerProcess)
    /// Outside of a transaction, for as long as it takes.
    ///
    /// It begins with a comment that no other statement has.
    case alone(comment: String, on: ServerProcess)
}

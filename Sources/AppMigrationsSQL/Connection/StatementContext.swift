/// How a PostgreSQL server runs a statement: inside or outside of a transaction, and in which of its
/// processes.
package enum StatementContext: Sendable {
    /// Outside of a transaction.
    ///
    /// These are short statements. A connection pooler may send each of them to a different server process.
    case outsideTransaction
    /// In a transaction. One server process runs it from its beginning to its end.
    case transaction(ServerProcess)
    /// A long statement outside of a transaction, for example CREATE INDEX CONCURRENTLY.
    ///
    /// It begins with a comment that no other statement has, so that the server's list of running statements
    /// shows whether it is still running.
    case longStatement(comment: String, on: ServerProcess)
}

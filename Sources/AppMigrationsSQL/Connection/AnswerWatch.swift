/// Ends the statements of a task that are never answered.
///
/// A fleet sets one around each of its closures. A connection can go silent, for example after a failover.
/// Its client may then wait without end, even after the task was cancelled.
package protocol AnswerWatch: Sendable {
    /// Runs a statement of this library, and returns its answer.
    ///
    /// - Throws: ``UnansweredStatement`` if no answer will come. The statement is left behind: nobody waits
    ///   for it any more.
    nonisolated(nonsending) func answer(
        at place: StatementPlace?,
        of connection: any AsyncSQLConnection.Type,
        _ statement: nonisolated(nonsending) @escaping () async throws -> SQLRows
    ) async throws -> SQLRows

    /// Calls a closure of the app, and closes its connection if no statement on it can be answered any more.
    ///
    /// - Throws: The closure's error, or ``UnansweredStatement`` if the connection was closed.
    nonisolated(nonsending) func call(
        at place: StatementPlace?,
        closing db: any AsyncSQLConnection,
        _ closure: nonisolated(nonsending) () async throws -> Void
    ) async throws
}

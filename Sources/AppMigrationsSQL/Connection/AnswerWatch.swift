/// Ends the wait for statements that will never be answered, and notes whether migrators ran a migration.
///
/// A fleet sets a watch while each of its closures runs (``SQLConversation/watch``). A connection can
/// go silent, for example after a failover. Its client may then wait without end, even after the task was
/// cancelled.
package protocol AnswerWatch: Sendable {
    /// Runs a statement of this library, and returns its answer.
    ///
    /// - Throws: ``UnansweredStatement`` if no answer will come. The server may still run the statement, but
    ///   nothing waits for it any more.
    nonisolated(nonsending) func answer(
        in statementContext: StatementContext?,
        of connection: any AsyncSQLConnection.Type,
        _ statement: nonisolated(nonsending) @escaping () async throws -> SQLRows
    ) async throws -> SQLRows

    /// Calls a closure of the app, and closes its connection if no statement on it can be answered any more.
    ///
    /// - Throws: The closure's error, or ``UnansweredStatement`` if the connection was closed.
    nonisolated(nonsending) func call(
        in statementContext: StatementContext?,
        closing db: any AsyncSQLConnection,
        _ closure: nonisolated(nonsending) () async throws -> Void
    ) async throws

    /// Notes that a call of `migrate` has returned, and whether it ran a migration.
    ///
    /// If it ran none, its ledger says that all of them have run.
    func migratorReturned(hasRun: Bool, ledger: String)
}

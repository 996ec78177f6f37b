internal import AppMigrations
internal import AppMigrationsSQL

/// A store that can write a document in the transaction of a closure: ``PostgresFleetStore`` without its
/// connection type.
protocol PostgresStore: FleetStore {
    var table: FleetTable { get }

    /// Runs a query on the store's connection.
    func ask(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]]

    /// Returns the server's message, if the error comes from the client library that the store uses.
    func serverError(from error: any Error) -> ServerError?
}

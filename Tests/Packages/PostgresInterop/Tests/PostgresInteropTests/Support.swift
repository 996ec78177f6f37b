import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

/// A new, empty database of the server that the `run` script started.
func withDatabase(_ body: (_ info: String) throws -> Void) throws {
    let (admin, info, name) = try newDatabase()
    try admin.query("CREATE DATABASE \(name)")
    try body(info)
}

/// The same for tests that await.
func withDatabase(_ body: (_ info: String) async throws -> Void) async throws {
    let (admin, info, name) = try newDatabase()
    try admin.query("CREATE DATABASE \(name)")
    try await body(info)
}

private func newDatabase() throws -> (admin: PostgresConnection, info: String, name: String) {
    let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: "_"))"
    let server = try server("APP_MIGRATIONS_POSTGRES")
    return (try PostgresConnection("\(server) dbname=postgres"), "\(server) dbname=\(name)", name)
}

private func server(_ variable: String) throws -> String {
    try #require(
        ProcessInfo.processInfo.environment[variable],
        "Start these tests with Tests/Packages/PostgresInterop/run, which starts the servers."
    )
}

/// How an asynchronous connection reaches the server, and how it writes values.
struct Way: Sendable, CustomTestStringConvertible {
    let isPooled: Bool
    let cells: AsyncPostgresConnection.Cells

    static let all = [
        Way(isPooled: false, cells: .text), Way(isPooled: false, cells: .binary),
        Way(isPooled: true, cells: .text),
        Way(isPooled: true, cells: .binary),
    ]

    var testDescription: String { "\(isPooled ? "through PgBouncer" : "directly"), cells in \(cells)" }

    /// A connection to the database of a connection without a pool.
    func connection(_ info: String) async throws -> AsyncPostgresConnection {
        try await AsyncPostgresConnection(self.info(info), cells: cells)
    }

    func info(_ info: String) throws -> String {
        guard isPooled else { return info }
        return try info.replacing(server("APP_MIGRATIONS_POSTGRES"), with: server("APP_MIGRATIONS_PGBOUNCER"))
    }
}

/// A process of `PostgresStarter`, which is built beside the tests.
func start(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
    var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    while folder.pathComponents.count > 1,
        !FileManager.default.isExecutableFile(atPath: folder.path(percentEncoded: false) + "/PostgresStarter")
    {
        folder.deleteLastPathComponent()
    }
    let process = Process()
    let output = Pipe()
    process.executableURL = folder.appending(path: "PostgresStarter")
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    return (process, output)
}

import AppMigrations
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

/// Makes a database for a test that awaits.
func withDatabase(_ body: (_ info: String) async throws -> Void) async throws {
    let (admin, info, name) = try newDatabase()
    try admin.query("CREATE DATABASE \(name)")
    try await body(info)
}

/// A new, empty database, and a connection to it.
func withConnection(_ body: (_ db: PostgresConnection, _ info: String) throws -> Void) throws {
    try withDatabase { info in try body(PostgresConnection(info), info) }
}

/// Makes a database, with a connection that is awaited.
func withAwaited(
    _ way: Way = Way.direct[0],
    _ body: (_ db: AsyncPostgresConnection, _ info: String) async throws -> Void
) async throws {
    try await withDatabase { info async throws in try await body(way.connection(info), info) }
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

    static let direct = [Way(isPooled: false, cells: .text), Way(isPooled: false, cells: .binary)]
    static let all = direct + [Way(isPooled: true, cells: .text), Way(isPooled: true, cells: .binary)]

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

/// The sum of the answers of calls that begin at once.
func sum(of count: Int, _ call: @escaping @Sendable () async throws -> Int) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<count { group.addTask { try await call() } }
        return try await group.reduce(0, +)
    }
}

/// After how many seconds, how often and how many times the server looks for the host of a connection.
nonisolated(nonsending) func keepalives(of db: AsyncPostgresConnection) async throws -> [[SQLValue]] {
    var rows = [[SQLValue]]()
    for name in ["idle", "interval", "count"] { rows += try await db.query("SHOW tcp_keepalives_\(name)") }
    return rows
}

/// The states of hosts, each in a folder of its own.
struct HostStates {
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

    func manager(of host: String) throws -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: "2.0",
            firstRun: .everything,
            stateDirectory: folder.appending(path: host).path(percentEncoded: false)
        )
    }

    func remove() { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
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

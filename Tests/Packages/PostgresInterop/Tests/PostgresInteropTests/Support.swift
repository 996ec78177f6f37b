import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

/// A new, empty database of the server that the `run` script started.
func withDatabase(_ body: (_ info: String) throws -> Void) throws {
    let server = try #require(
        ProcessInfo.processInfo.environment["APP_MIGRATIONS_POSTGRES"],
        "Start these tests with Tests/Packages/PostgresInterop/run, which starts a server."
    )
    let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: "_"))"
    let admin = try PostgresConnection("\(server) dbname=postgres")
    try admin.query("CREATE DATABASE \(name)")
    try body("\(server) dbname=\(name)")
}

/// A process of `PostgresStarter`, which is built beside the tests.
func start(_ arguments: String...) throws -> (process: Process, output: Pipe) {
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

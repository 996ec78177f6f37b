import AppMigrations
import CMeasure
import Foundation
import GRDB

// What a start where nothing is pending costs with this library and with what a user would pick instead: the first call in
// a fresh process, side by side, in turns. Without arguments it prints the table; with `KIND FOLDER COUNT` it is the child.

let arguments = CommandLine.arguments
if arguments.count == 4, let count = Int(arguments[3]) {
    print(try measure(arguments[1], arguments[2], count))
} else {
    try printTable()
}

func grdbMigrator(_ count: Int) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for number in 1...count {
        migrator.registerMigration("1.\(number)") { try $0.execute(sql: "CREATE TABLE t\(number)(a)") }
    }
    return migrator
}

/// The nanoseconds of one start, or of making the data for it.
func measure(_ kind: String, _ folder: String, _ count: Int) throws -> UInt64 {
    let versions = (1...count).map { "1.\($0)" }
    let database = folder + "/peers.sqlite"
    _ = measure_now()
    let began = measure_now()
    switch kind {
    case "AppMigrations":
        let manager = try MigrationManager(
            named: "Peers",
            currentVersion: "1.\(count)",
            firstRun: .everything,
            stateDirectory: folder
        )
        for version in versions { try manager.whenMigrating(toVersion: version) {} }
    case "GRDB":
        let queue = try DatabaseQueue(path: database)
        try grdbMigrator(count).migrate(queue)
    case "user_version":
        let queue = try DatabaseQueue(path: folder + "/version.sqlite")
        try queue.write { connection in
            let version = try Int.fetchOne(connection, sql: "PRAGMA user_version") ?? 0
            if version < count { try connection.execute(sql: "PRAGMA user_version = \(count)") }
        }
    default:
        throw CocoaError(.featureUnsupported)
    }
    return measure_now() - began
}

func printTable() throws {
    let kinds = ["AppMigrations", "GRDB", "user_version"]
    print("versions  library        median of the first call, against AppMigrations")
    for count in [10, 100] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { print(error) } }
        let path = folder.path(percentEncoded: false)
        for kind in kinds { _ = try child(kind, path, count) }
        var times: [String: [Double]] = [:]
        for round in 0..<40 {
            for kind in round % 2 == 0 ? kinds : kinds.reversed() {
                times[kind, default: []].append(try child(kind, path, count))
            }
        }
        guard let ours = times["AppMigrations"] else { return }
        for kind in kinds {
            let ratios = zip(times[kind] ?? [], ours).map { $0 / $1 }.sorted()
            let ratio = (ratios[ratios.count / 2] * 10).rounded() / 10
            print("\(count)".padded(10) + kind.padded(15) + "\(ratio)")
        }
    }
}

func child(_ kind: String, _ folder: String, _ count: Int) throws -> Double {
    let process = Process()
    process.executableURL = URL(filePath: arguments[0])
    process.arguments = [kind, folder, "\(count)"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard process.terminationStatus == 0, let time = Double(text) else {
        throw CocoaError(.featureUnsupported)
    }
    return time
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}

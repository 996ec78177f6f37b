import Foundation

/// A process of `StandInDatabase`, which is built beside the tests.
package final class Starter {
    private let process = Process()
    private let output = Pipe()

    package convenience init(_ arguments: String..., folder: String? = nil) throws {
        try self.init(arguments, folder: folder)
    }

    package init(_ arguments: [String], folder: String? = nil) throws {
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    private static var executable: URL {
        // The bundle of the tests lies beside it, on Apple's systems three folders deeper.
        var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        while folder.pathComponents.count > 1 {
            let candidate = folder.appending(path: "StandInDatabase")
            if FileManager.default.isExecutableFile(atPath: candidate.path(percentEncoded: false)) {
                return candidate
            }
            folder.deleteLastPathComponent()
        }
        return URL(filePath: "StandInDatabase")
    }

    /// Waits for the end: the exit status and the lines printed.
    package func finish() throws -> (status: Int32, lines: [String]) {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            process.terminationStatus,
            String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        )
    }

    /// Waits until the process has printed something, which ``finish()`` then leaves out.
    package func waitForLine() throws { _ = output.fileHandleForReading.availableData }

    /// Kills the process once it has printed so many lines, or lets it end before.
    package func kill(afterLines count: Int) throws {
        var lines = 0
        while lines < count {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            lines += data.count { $0 == UInt8(ascii: "\n") }
        }
        kill()
    }

    /// Kills the process, unless it has ended.
    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}

import AppMigrations
import Foundation
import Testing

@Suite struct CommandLineToolsAndServers {
    // Sample 2 of CommandLineToolsAndServers.md

    // Sample 3 of CommandLineToolsAndServers.md

    func createStore(_ directory: String) throws {}
    func addIndex(_ directory: String) throws {}

    @Test func `a server that a newer release shut out says so`() async throws {
        try await withFolder { folder async throws in
            let migrations = folder + "/migrations"
            try startServer(dataDirectory: folder, version: "1.3") { _ in }
            let newer = try MigrationManager(named: "Data", currentVersion: "2.0", stateDirectory: migrations)
            try newer.whenMigrating(toVersion: "2.0", minimumAppVersion: "1.9") {}
            let error = #expect(throws: TooOld.self) {
                try startServer(dataDirectory: folder, version: "1.3") { _ in }
            }
            #expect(error?.needs.description == "1.9")
        }
    }
}

/// The whole tool, sample 1, as processes on a folder of their own.
@Suite struct AWholeTool {
    @Test func `a new install runs nothing and is silent`() async throws {
        try await withTool { tool async throws in
            #expect(try tool.run() == Ended(code: 0))
            #expect(try tool.run("--dry-run").output == "1.2 baseline\n2.0 baseline\n")
            let help = try tool.run("--help")
            #expect(help == Ended(code: 64, errors: "notes [--dry-run | status [--json]]\n"))
        }
    }

    @Test func `a look at old data tells what would run, and makes nothing`() async throws {
        try await withTool { tool async throws in
            try tool.makeOldData()
            #expect(try tool.run("--dry-run") == Ended(code: 0, output: "1.2 willRun\n2.0 willRun\n"))
            #expect(!exists(tool.folder + "/Library.migrations.json"))
            #expect(try tool.run() == Ended(code: 0))
            #expect(try read(tool.folder + "/settings") == "color = red")
            #expect(try read(tool.folder + "/note-1") == "two")
            #expect(try tool.run("status").output.contains("1.2 from 1.0, finished"))
            let lines = try tool.run("status", "--json").output.split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("{") })
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a tool that is interrupted ends behind its checkpoint, and goes on there`(number: Int32)
        async throws
    {
        try await withTool { tool async throws in
            try tool.makeOldData()
            try write("", to: tool.folder + "/hold")
            let process = try tool.start()
            while process.isRunning, !exists(tool.folder + "/note-1") { await Task.yield() }
            kill(process.processIdentifier, number)
            process.waitUntilExit()
            #expect(process.terminationStatus == 130)
            #expect(try tool.run("status").output.contains("\nInterrupted: 2.0, attempts: 1, deaths: 0,"))
            try FileManager.default.removeItem(atPath: tool.folder + "/hold")
            try FileManager.default.removeItem(atPath: tool.folder + "/note-1")
            #expect(try tool.run() == Ended(code: 0))
            #expect(!exists(tool.folder + "/note-1"))
        }
    }

    @Test func `what may pass is worth another try, and a mistake isn't`() async throws {
        try await withTool { tool async throws in
            try tool.makeOldData()
            try FileManager.default.removeItem(atPath: tool.folder + "/notes.txt")
            try FileManager.default.createDirectory(
                atPath: tool.folder + "/notes.txt",
                withIntermediateDirectories: false
            )
            #expect(try tool.run().code == 70)
            let state = tool.folder + "/Library.migrations.json"
            try write("{", to: state)
            let damaged = try tool.run()
            #expect(damaged.code == 70 && damaged.errors.contains("Library.migrations.json"))
            try FileManager.default.removeItem(atPath: tool.folder)
            try write("", to: tool.folder)
            #expect(try tool.run().code == 75)
        }
    }

    @Test func `in a terminal a bar appears for an update, never falls, and ends with its line`() async throws
    {
        try await withTool { tool async throws in
            try tool.makeOldData()
            let ended = try tool.run(inTerminal: true)
            let shown = ended.output
            #expect(ended.code == 0 && ended.errors == "")
            let percents = shown.matches(of: /\] (\d+) %/).compactMap { Int($0.output.1) }
            #expect(percents == percents.sorted() && percents.count > 0, "\(shown)")
            #expect(shown.hasPrefix("\r[") && shown.hasSuffix("\u{1B}[K\r\n"), "\(shown)")
            #expect(try tool.run(inTerminal: true) == Ended(code: 0))
        }
    }

    private func withTool(_ body: (Tool) async throws -> Void) async throws {
        try await withFolder { data async throws in
            let tool = Tool(data: data)
            try FileManager.default.createDirectory(atPath: tool.folder, withIntermediateDirectories: false)
            try await body(tool)
        }
    }

    struct Ended: Equatable {
        var code: Int32
        var output = ""
        var errors = ""
    }

    private struct Tool {
        let data: String
        var folder: String { data + "/notes" }

        func makeOldData() throws {
            try write("one\ntwo", to: folder + "/notes.txt")
            try write("colour = red", to: folder + "/settings")
        }

        func start(
            _ arguments: [String] = [],
            inTerminal: Bool = false,
            output: Any? = FileHandle.nullDevice,
            errors: Any? = FileHandle.nullDevice
        ) throws -> Process {
            let process = Process()
            let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "Tool")
            process.executableURL = inTerminal ? URL(filePath: "/usr/bin/script") : program
            process.arguments = inTerminal ? ["-qec", program.path, "/dev/null"] : arguments
            process.environment = ["XDG_DATA_HOME": data]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            return process
        }

        func run(_ arguments: String..., inTerminal: Bool = false) throws -> Ended {
            let files = try ["out", "err"].map { name in
                try write("", to: data + "/" + name)
                return try FileHandle(forWritingTo: URL(filePath: data + "/" + name))
            }
            let process = try start(arguments, inTerminal: inTerminal, output: files[0], errors: files[1])
            process.waitUntilExit()
            return Ended(
                code: process.terminationStatus,
                output: try read(data + "/out"),
                errors: try read(data + "/err")
            )
        }
    }
}

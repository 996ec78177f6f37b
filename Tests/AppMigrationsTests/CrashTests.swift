import AppMigrations
import Foundation
import Testing

/// Real processes die at named points; the parent looks at what they left.
///
/// The script `Tests/Support/deaths` does the same at every system call.
@Suite struct CrashTests {
    static let versions = ["1.1", "1.2", "1.3"]

    /// Where a process dies, and what the trace holds after the next start.
    static let points = [
        ("firstRun", ["1.1 1", "1.2 1", "1.3 1"]),
        ("started 1.2", ["1.1 1", "1.2 2", "1.3 1"]),
        ("begin 1.1", ["1.1 1", "1.1 2", "1.2 1", "1.3 1"]),
        ("begin 1.2", ["1.1 1", "1.2 1", "1.2 2", "1.3 1"]),
        ("middle 1.2", ["1.1 1", "1.2 1", "1.2 2", "1.3 1"]),
        ("end 1.3", ["1.1 1", "1.2 1", "1.3 1", "1.3 2"]),
        ("finished 1.2", ["1.1 1", "1.2 1", "1.3 1"]),
        ("finished 1.3", ["1.1 1", "1.2 1", "1.3 1"]),
    ]

    /// One start of an app whose closures change a file, a folder and a file that isn't there, and so that a second run
    /// on what the first one left would throw or show.
    static func start(_ path: String, dyingAt point: String, protecting: Bool) throws {
        let file = path + "/file"
        let folder = path + "/folder"
        let created = path + "/created"
        func pass(_ name: String) { if name == point { die() } }
        let manager = try MigrationManager(
            named: "Library",
            currentVersion: "1.3",
            firstRun: firstRun(dying: point == "firstRun"),
            stateDirectory: path + "/state",
            options: MigrationManager.Options(onEvent: { event in
                if "\(event.kind) \(event.version.map(\.description) ?? "-")" == point { die() }
            })
        )
        for version in versions {
            let paths = protecting ? [file, folder, created] : []
            try manager.whenMigrating(toVersion: version, protecting: paths) { context in
                try append("\(version) \(context.attempt)", to: path + "/trace")
                #expect(context.isRetry == (context.attempt > 1))
                pass("begin \(version)")
                if protecting {
                    try append(version, to: file)
                    try FileManager.default.removeItem(atPath: folder + "/old-" + version)
                }
                pass("middle \(version)")
                if protecting {
                    try append(version, to: created)
                    try append(version, to: folder + "/log")
                }
                pass("end \(version)")
            }
        }
    }

    private static func firstRun(dying: Bool) -> MigrationManager.FirstRun {
        if dying { die() }
        return .existingData(at: "1.0")
    }

    @Test(arguments: points)
    func `a process that dies loses nothing and repeats what was in flight`(
        point: String,
        trace: [String]
    ) async throws {
        try await Scratch.with { scratch async throws in
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = scratch.path as String, point = point as String] in
                try Self.start(path, dyingAt: point, protecting: false)
            }
            try Self.start(scratch.path, dyingAt: "", protecting: false)
            try Self.expectFinished(scratch, trace: trace)
        }
    }

    @Test(arguments: points)
    func `a protecting migration that died has the effect of one run`(point: String, trace: [String])
        async throws
    {
        try await Scratch.with { scratch async throws in
            try Self.makeData(scratch)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = scratch.path as String, point = point as String] in
                try Self.start(path, dyingAt: point, protecting: true)
            }
            try Self.start(scratch.path, dyingAt: "", protecting: true)
            try Self.expectFinished(scratch, trace: trace)
            try Self.expectData(scratch)
        }
    }

    @Test func `a process that dies right after it put files back does no harm`() async throws {
        try await Scratch.with { scratch async throws in
            try Self.makeData(scratch)
            for point in ["middle 1.2", "restored 1.2", "middle 1.2"] {
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = scratch.path as String, point = point as String] in
                    try Self.start(path, dyingAt: point, protecting: true)
                }
            }
            try Self.start(scratch.path, dyingAt: "", protecting: true)
            try Self.expectFinished(scratch, trace: ["1.1 1", "1.2 1", "1.2 2", "1.2 3", "1.3 1"])
            try Self.expectData(scratch)
        }
    }

    private static func makeData(_ scratch: Scratch) throws {
        try scratch.write("original\n", to: "file")
        for version in versions { try scratch.write(version, to: "folder/old-" + version) }
    }

    private static func expectData(_ scratch: Scratch) throws {
        #expect(try scratch.read("file") == "original\n1.1\n1.2\n1.3\n")
        #expect(try scratch.read("created") == "1.1\n1.2\n1.3\n")
        #expect(try scratch.read("folder/log") == "1.1\n1.2\n1.3\n")
        #expect(try scratch.names("folder") == ["log"])
    }

    private static func expectFinished(_ scratch: Scratch, trace: [String]) throws {
        #expect(try scratch.read("trace").split(separator: "\n").map(String.init) == trace)
        let manager = try scratch.manager("1.3")
        #expect(manager.launch == .same)
        #expect(manager.lastRunVersion.description == "1.3")
        #expect(try manager.history.map(\.version.description) == versions)
        #expect(try scratch.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }
}

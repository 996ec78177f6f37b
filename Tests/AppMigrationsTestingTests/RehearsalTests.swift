import AppMigrations
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

@Suite(.watchdog) struct RehearsalTests {
    static let notRepeatable =
        "Migration 1.1 is not repeatable. Let it check what is already done."

    @Test func `migrations that keep every promise give a clean report with a row for each run`() throws {
        let rehearsal = Rehearsal(
            currentVersion: "1.4",
            from: [
                list(), list("1.0\n1.1\n", at: "1.1"),
                .freshInstall { try write("1.0\n1.1\n1.1-1\n1.4\n", to: "list.txt", in: $0) },
            ]
        )
        let report = try rehearsal.run { try declare(["1.1", "1.1-1", "1.4"], $0, in: $1) }
        try report.requireClean()
        #expect(report.declaredVersions.map(\.description) == ["1.1", "1.1-1", "1.4"])
        #expect(report.unrehearsedVersions.isEmpty)
        let rows = report.runs.map { run in
            "\(run.start), \(run.title): \(run.appVersions.map(\.description)) \(run.ran.map(\.description))"
        }
        #expect(rows.filter { $0.hasPrefix("1.1, ") }.count == 11)
        #expect(
            rows.filter { !$0.contains(/^1\.1, (killed|after)/) } == [
                #"1.0, in one jump: ["1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, step by step: ["1.1", "1.1-1", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, killed before 1.1 was recorded as begun: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, killed before the closure of 1.1: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, killed after the closure of 1.1: ["1.4", "1.4"] ["1.1", "1.1", "1.1-1", "1.4"]"#,
                #"1.0, killed after 1.1 was recorded as done: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, after 1.1 threw at its end: ["1.4", "1.4"] ["1.1", "1.1", "1.1-1", "1.4"]"#,
                #"1.0, killed before the closure of 1.1-1: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, killed after the closure of 1.1-1: ["1.4", "1.4"] ["1.1", "1.1-1", "1.1-1", "1.4"]"#,
                #"1.0, killed after 1.1-1 was recorded as done: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, after 1.1-1 threw at its end: ["1.4", "1.4"] ["1.1", "1.1-1", "1.1-1", "1.4"]"#,
                #"1.0, killed before the closure of 1.4: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, killed after the closure of 1.4: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4", "1.4"]"#,
                #"1.0, killed after 1.4 was recorded as done: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4"]"#,
                #"1.0, after 1.4 threw at its end: ["1.4", "1.4"] ["1.1", "1.1-1", "1.4", "1.4"]"#,
                #"1.1, in one jump: ["1.4"] ["1.1-1", "1.4"]"#,
                #"1.1, step by step: ["1.1-1", "1.4"] ["1.1-1", "1.4"]"#,
                #"fresh install, in one jump: ["1.4"] []"#,
            ]
        )
    }

    /// An app may compare the dates of its files with those in its database.
    @Test func `each run finds the modification dates of the starting point`() throws {
        let old = Date(timeIntervalSince1970: 1_000_000_000.25)
        let dates: @Sendable (_ folder: String) throws -> [Date?] = { folder in
            try ["list.txt", "notes", "notes/1"].map {
                try FileManager.default.attributesOfItem(atPath: path($0, in: folder))[.modificationDate]
                    as? Date
            }
        }
        let point = StartingPoint.version("1.0") { folder in
            let files = FileManager.default
            try write("1.0\n", to: "list.txt", in: folder)
            try files.createDirectory(atPath: path("notes", in: folder), withIntermediateDirectories: false)
            try write("Milk", to: "notes/1", in: folder)
            for name in ["list.txt", "notes/1", "notes"] {
                try files.setAttributes([.modificationDate: old], ofItemAtPath: path(name, in: folder))
            }
        }
        let report = try rehearse(from: [point, point]) { folder throws in
            #expect(try dates(folder) == [old, old, old])
        }
        try report.requireClean()
    }

    @Test func `a closure that does harm when it runs twice is named, after a death and after a throw`()
        throws
    {
        let report = try rehearse { try append("1.1\n", to: "list.txt", in: $0) }
        let difference = #"line 3 of `list.txt` should not be there: "1.1""#
        #expect(
            report.texts == [
                "From 1.0 to 1.1, killed after the closure of 1.1, and started again: compared with one jump, "
                    + "\(difference). \(Self.notRepeatable)",
                "From 1.0 to 1.1, after 1.1 threw at its end, and started again: compared with one jump, "
                    + "\(difference). \(Self.notRepeatable)",
            ]
        )
        let first = #expect(throws: RehearsalFinding.self) { try report.requireClean() }
        #expect(first?.kind == .notRepeatable)
        #expect(first?.version?.description == "1.1")
        #expect(first?.path == "list.txt")
    }

    @Test(arguments: [false, true])
    func `a second run that throws is told with its error`(savesCheckpoint: Bool) throws {
        struct Gone: Error, CustomStringConvertible { let description = "list.txt is gone" }
        let report = try Rehearsal(currentVersion: "1.1", from: [list()]).run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1") { context in
                guard exists("list.txt", in: folder) else { throw Gone() }
                try FileManager.default.removeItem(atPath: path("list.txt", in: folder))
                if savesCheckpoint { try context.saveCheckpoint("half") }
            }
        }
        let place = savesCheckpoint ? "before checkpoint 1" : "after the closure"
        #expect(
            report.texts.first
                == "From 1.0 to 1.1, killed \(place) of 1.1, and started again: migration 1.1 threw: list.txt is gone. "
                + (savesCheckpoint ? CheckpointTests.advice : Self.notRepeatable)
        )
    }

    @Test func `a migration that does something else when releases are not skipped is found`() throws {
        let report = try Rehearsal(currentVersion: "1.2", from: [list()]).run { migrations, folder in
            for version in ["1.1", "1.2"] {
                try migrations.whenMigrating(toVersion: version) {
                    try addLine("\(version) in \(migrations.currentVersion)", in: folder)
                }
            }
        }
        #expect(
            report.texts == [
                "From 1.0 to 1.2, step by step (1.1, 1.2): compared with one jump, "
                    + #"line 2 of `list.txt` is "1.1 in 1.1" instead of "1.1 in 1.2"."#
            ]
        )
        #expect(report.findings.map(\.kind) == [.stepsDiffer])
    }

    @Test func `starting points with different ends are found, and so is a forgotten migration`() throws {
        let rehearsal = Rehearsal(
            currentVersion: "1.2",
            from: [
                .freshInstall { try write("1.0\n1.1\n1.2\n", to: "list.txt", in: $0) },
                list(), list("1.0\n", at: "1.1"),
            ]
        )
        let report = try rehearsal.run { try declare(["1.1"], $0, in: $1) }
        #expect(
            report.texts == [
                "From 1.1 to 1.2, in one jump: compared with a fresh install, "
                    + #"line 2 of `list.txt` is missing: "1.1". Perhaps a migration is missing."#,
                "From 1.0 to 1.2, in one jump: compared with one jump from 1.1, "
                    + #"line 2 of `list.txt` should not be there: "1.1"."#,
            ]
        )
        #expect(report.findings.map(\.kind) == [.freshInstallDiffers, .startsDiffer])
    }

    @Test func `a migration that fails from one starting point leaves the others rehearsed`() throws {
        struct Unreadable: Error, CustomStringConvertible { let description: String }
        let rehearsal = Rehearsal(currentVersion: "1.2", from: [list("damaged"), list(at: "1.1")])
        let report = try rehearsal.run { migrations, folder in
            for version in ["1.1", "1.2"] {
                try migrations.whenMigrating(toVersion: version) {
                    if try read("list.txt", in: folder) == "damaged" {
                        throw Unreadable(description: "\(folder)/list.txt can't be read")
                    }
                    try addLine(version, in: folder)
                }
            }
        }
        #expect(
            report.texts == [
                "From 1.0 to 1.2, in one jump: migration 1.1 threw: <data>/list.txt can't be read."
            ]
        )
        #expect(report.findings.map(\.kind) == [.failed])
        #expect(report.runs.count { $0.start == "1.1" } == 6)
        #expect(report.unrehearsedVersions.map(\.description) == ["1.1"])
    }

    @Test func `a failure that the app's own code swallows is found all the same`() throws {
        struct Refused: Error {}
        let report = try Rehearsal(currentVersion: "1.1", from: [list()]).run { migrations, _ in
            do { try migrations.whenMigrating(toVersion: "1.1") { throw Refused() } } catch {}
        }
        #expect(report.texts == ["From 1.0 to 1.1, in one jump: migration 1.1 threw: Refused()."])
    }

    @Test func `a subsystem that builds itself is rehearsed from nothing`() throws {
        let report = try Rehearsal(currentVersion: "1.1", from: [.everything]).run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.0") { try write("1.0\n", to: "list.txt", in: folder) }
            try migrations.whenMigrating(toVersion: "1.1") { try append("1.1\n", to: "list.txt", in: folder) }
        }
        #expect(
            report.texts.first
                == "From an empty folder to 1.1, killed after the closure of 1.1, and started again: compared "
                + #"with one jump, line 3 of `list.txt` should not be there: "1.1". \#(Self.notRepeatable)"#
        )
        #expect(report.runs.map(\.start).contains("everything"))
    }

    @Test func `a state in the data of a starting point or of a fresh install is no difference`() throws {
        @Sendable func declareSite(_ migrations: MigrationManager, in folder: String) throws {
            try declare(["2.0", "2.1"], migrations, in: folder)
        }
        @Sendable func start(
            _ version: String,
            _ firstRun: MigrationManager.FirstRun,
            in folder: String
        ) throws -> MigrationManager {
            try MigrationManager(
                named: "Site",
                currentVersion: version,
                firstRun: firstRun,
                stateDirectory: path("migrations", in: folder)
            )
        }
        let rehearsal = Rehearsal(
            named: "Site",
            currentVersion: "2.1",
            from: [
                list("1.2\n", at: "1.2"),
                .version("2.0") { folder in
                    try write("1.2\n", to: "list.txt", in: folder)
                    try declare(["2.0"], start("2.0", .existingData(at: "1.2"), in: folder), in: folder)
                    // A rehearsal doesn't read this state, so 2.1 runs all the same.
                    try start("3.0", .everything, in: folder).reset(to: "2.1")
                },
                .freshInstall { folder in
                    try write("1.2\n2.0\n2.1\n", to: "list.txt", in: folder)
                    try declareSite(start("2.1", .freshInstall, in: folder), in: folder)
                },
            ]
        )
        let report = try rehearsal.run { try declareSite($0, in: $1) }
        try report.requireClean()
        #expect(report.runs.first { $0.start == "2.0" }?.ran == ["2.1"])
    }

    @Test func `asynchronous declarations are rehearsed on their caller's actor`() async throws {
        let report = try await Notes().rehearse()
        #expect(report.isClean, "\(report)")
        #expect(report.runs.count == 7)
    }

    private actor Notes {
        var count = 0

        func rehearse() async throws -> RehearsalReport {
            let rehearsal = Rehearsal(currentVersion: "1.1", from: [list(), list("1.0\n1.1\n", at: "1.1")])
            return try await rehearsal.run { migrations, folder in
                try await migrations.whenMigrating(toVersion: "1.1") {
                    await Task.yield()
                    count += 1
                    try addLine("1.1", in: folder)
                }
            }
        }
    }
}

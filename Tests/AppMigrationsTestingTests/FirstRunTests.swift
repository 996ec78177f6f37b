import AppMigrations
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

/// The app's own answer to `firstRun:`, asked on the data of each starting point.
@Suite(.watchdog) struct FirstRunTests {
    private static let points: [StartingPoint] = [
        list("3.0\n", at: "3.0"), list("3.0\n3.2\n", at: "3.2"),
        .freshInstall { try write("3.0\n3.2\n3.3\n", to: "list.txt", in: $0) },
    ]

    private static func report(
        from points: [StartingPoint] = points,
        before adoption: String? = nil,
        _ firstRun: (String) throws -> MigrationManager.FirstRun
    ) throws -> RehearsalReport {
        try Rehearsal(currentVersion: "3.3", from: points).run(firstRun: firstRun, before: adoption) {
            try Self.declareTolerantly($0, in: $1)
        }
    }

    /// Migrations that accept that nothing exists.
    private static func declareTolerantly(_ migrations: MigrationManager, in folder: String) throws {
        for version in ["3.2", "3.3"] {
            try migrations.whenMigrating(toVersion: version) {
                if exists("list.txt", in: folder) { try addLine(version, in: folder) }
            }
        }
    }

    private static func newest(in folder: String) throws -> MigrationManager.FirstRun {
        guard exists("list.txt", in: folder) else { return .freshInstall }
        return .existingData(
            at: try read("list.txt", in: folder).split(separator: "\n").last.map(String.init) ?? "3.0"
        )
    }

    @Test func `an answer that fits the data is a clean row for each starting point`() throws {
        let report = try Self.report { try Self.newest(in: $0) }
        try report.requireClean()
        let rows = report.runs.filter { $0.title == "asked firstRun" }
        #expect(rows.map(\.start) == ["3.0", "3.2", "fresh install"])
        let answered = report.runs.filter { $0.answer != nil && $0.title != "after the state was lost" }
        #expect(answered.map(\.title) == rows.map(\.title))
    }

    @Test func `a detection that takes old data for new is found, with what would never run`() throws {
        let report = try Self.report { exists("list.txt", in: $0) ? .existingData(at: "3.3") : .freshInstall }
        #expect(report.findings.map(\.kind) == [.firstRunSkips, .firstRunSkips])
        #expect(
            report.texts.first
                == #"From 3.0: firstRun: returns existingData(at: "3.3"), so 3.2, 3.3 would "#
                + "never run on this data. Return the version of the data."
        )
        let forgotten = try Self.report { _ in .freshInstall }
        #expect(forgotten.findings.map(\.kind) == [.firstRunSkips, .firstRunSkips])
        let own = try Rehearsal(currentVersion: "3.3", from: [list("3.0\n3.2\n3.2-1\n", at: "3.2")])
            .run(firstRun: { _ in .existingData(at: "3.2-1") }) { try declare(["3.2", "3.2-1"], $0, in: $1) }
        let advice = #" If the release had done 3.2-1 already, its starting point is .version("3.2-1")."#
        #expect(own.texts.first?.hasSuffix(advice) == true)
    }

    @Test func `from the first release with the library on there is a state, and the app isn't asked`()
        async throws
    {
        // Such an app looks for what the old releases left, and takes all else for new.
        func detection(_ folder: String) throws -> MigrationManager.FirstRun {
            try exists("list.txt", in: folder) && !read("list.txt", in: folder).contains("3.2")
                ? .existingData(at: "3.0") : .freshInstall
        }
        let report = try Self.report(before: "3.2", detection)
        try report.requireClean()
        #expect(report.runs.filter { $0.title == "asked firstRun" }.map(\.start) == ["3.0", "fresh install"])
        #expect(try Self.report(before: "3.3", detection).findings.map(\.kind) == [.firstRunSkips])
        let rehearsal = Rehearsal(currentVersion: "3.3", from: Self.points)
        let awaited = try await rehearsal.run(firstRun: detection, before: "3.2") { migrations, folder in
            await Task.yield()
            try Self.declareTolerantly(migrations, in: folder)
        }
        #expect(awaited.runs.map(\.title) == report.runs.map(\.title))
        let built = try Self.report(from: [.everything], before: "3.0") { _ in .everything }
        #expect(built.runs.first?.title == "asked firstRun")
        #expect(throws: MigrationError.self) { try Self.report(before: "3.x", detection) }
    }

    @Test(arguments: [("3.2", ["3.2", "3.3"]), ("3.1", ["3.1", "3.2", "3.3"]), ("3.3", []), ("3.4", [])])
    func `only releases with the library are simulated, and the first of them is`(
        adoption: String,
        releases: [String]
    ) throws {
        struct HasNoLibrary: Error {}
        let points = [list("3.0\n", at: "3.0"), list("3.0\n", at: "3.0-1")]
        let report = try Rehearsal(currentVersion: "3.3", from: points).run(before: adoption) {
            migrations,
            folder in
            if migrations.currentVersion.description < min(adoption, "3.3") { throw HasNoLibrary() }
            try Self.declareTolerantly(migrations, in: folder)
        }
        try report.requireClean()
        let steps = report.runs.filter { $0.title == "step by step" }
            .map { $0.appVersions.map(\.description) }
        #expect(steps == (releases.isEmpty ? [] : [releases, releases]))
    }

    @Test func `a detection that takes new data for old is run, and does no harm where migrations look`()
        throws
    {
        let report = try Self.report(from: [list("3.0\n3.2\n", at: "3.2")]) { _ in .existingData(at: "3.0") }
        try report.requireClean()
        #expect(
            report.runs.filter { $0.title == "with the answer of firstRun" }.map(\.ran) == [["3.2", "3.3"]]
        )
    }

    @Test func `the report shows what was answered for each starting point`() throws {
        struct Locked: Error {}
        let report = try Self.report { folder in
            guard exists("list.txt", in: folder) else { throw Locked() }
            return .existingData(at: try read("list.txt", in: folder) == "3.0\n" ? "3.2" : "3.1")
        }
        let rows = "\(report)".split(separator: "\n").filter { $0.contains("asked firstRun  ") }
        let cells = rows.map { $0.split(separator: /\s\s+/).map(String.init) }
        #expect(
            cells.map { [$0.first, $0.last] } == [
                ["3.0", #"existingData(at: "3.2"), 1 finding"#], ["3.2", #"existingData(at: "3.1")"#],
                ["fresh install", "1 finding"],
            ]
        )
    }

    @Test func `a migration that does harm on data that has it is found by such an answer`() throws {
        let report = try Rehearsal(currentVersion: "3.2", from: [list(), list("3.0\n3.2\n", at: "3.2")])
            .run(firstRun: { folder in
                .existingData(at: try read("list.txt", in: folder) == "1.0\n" ? "1.0" : "3.0")
            }) { migrations, folder in
                try migrations.whenMigrating(toVersion: "3.2") {
                    if try read("list.txt", in: folder) == "1.0\n" {
                        return try write("3.0\n3.2\n", to: "list.txt", in: folder)
                    }
                    try append("3.2\n", to: "list.txt", in: folder)
                }
            }
        let found = try #require(report.findings.first { $0.kind == .firstRunRepeats }, "\(report)")
        #expect(
            found.description
                == #"From 3.2 to 3.2, with the answer of firstRun:, existingData(at: "3.0"): compared with one jump, "#
                + #"line 3 of `list.txt` should not be there: "3.2". Return the version of the data from firstRun:, "#
                + "or let the migrations check what is already done."
        )
    }

    @Test func `a lost state is a run of its own, also where the data of starting points is not asked about`()
        async throws
    {
        // The app looks for the data of releases without the library, and for nothing that came later.
        func detection(_ folder: String) -> MigrationManager.FirstRun {
            exists("list.txt", in: folder) ? .existingData(at: "3.0") : .freshInstall
        }
        let clean = try Self.report(before: "3.2", detection)
        try clean.requireClean()
        let lost = clean.runs.filter { $0.title == "after the state was lost" }
        #expect(lost.map(\.start) == ["3.2"])
        #expect(lost.map(\.ran) == [["3.3", "3.2", "3.3"]])
        #expect(lost.first?.appVersions.map(\.description) == ["3.3", "3.3"])
        #expect("\(clean)".contains(#"existingData(at: "3.0")"#))
        let rehearsal = Rehearsal(currentVersion: "3.3", from: Self.points)
        let report = try await rehearsal.run(firstRun: detection, before: "3.2") { migrations, folder in
            try migrations.whenMigrating(toVersion: "3.2") { try addLine("3.2", in: folder) }
            try await migrations.whenMigrating(toVersion: "3.3") { context in
                await Task.yield()
                // A retry finds what the attempt before it did; a start after the state was lost is none.
                if context.isRetry, try read("list.txt", in: folder).hasSuffix("3.3\n") { return }
                try append("3.3\n", to: "list.txt", in: folder)
            }
        }
        #expect(
            report.texts == [
                "From 3.2 to 3.3, after the state was lost, with the answer of firstRun:, "
                    + #"existingData(at: "3.0"): compared with one jump, line 4 of `list.txt` should not be there: "3.3". "#
                    + "Return the version of the data from firstRun:, or let the migrations check what is already done."
            ]
        )
        #expect(report.findings.map(\.kind) == [.firstRunRepeats])
        let asked = try Self.report(from: [.freshInstall { try write("", to: "list.txt", in: $0) }]) {
            exists("list.txt", in: $0) ? .existingData(at: "4.0") : .freshInstall
        }
        #expect(asked.findings.map(\.kind) == [.failed])
        #expect(
            asked.texts.first?.hasPrefix(
                "With a fresh install of 3.3, after the state was lost, with the answer of firstRun:, "
                    + #"existingData(at: "4.0"): "#
            ) == true,
            "\(asked)"
        )
    }

    @Test func `an answer that would migrate a fresh install is found`() throws {
        let report = try Self.report {
            try exists("list.txt", in: $0) ? Self.newest(in: $0) : .existingData(at: "3.0")
        }
        #expect(report.findings.map(\.kind) == [.firstRunRepeats])
        #expect(report.findings.first?.version?.description == "3.2")
        #expect(
            report.texts.first
                == #"With a fresh install: firstRun: returns existingData(at: "3.0"), so 3.2, 3.3 would run in an empty "#
                + "folder. Return .freshInstall if there is no data."
        )
        let everything = try Self.report(from: [.everything]) { _ in .everything }
        #expect(everything.findings.allSatisfy { $0.kind != .firstRunRepeats && $0.kind != .firstRunSkips })
    }

    @Test
    func `an answer that throws, can't be read or is newer than the app is a finding, and the runs go on`()
        throws
    {
        struct Locked: Error {}
        for answer in [
            { (_: String) throws -> MigrationManager.FirstRun in throw Locked() },
            { _ in .existingData(at: "3.x") }, { _ in .existingData(at: "4.0") },
        ] {
            let report = try Self.report(from: [list("3.0\n", at: "3.0")], answer)
            #expect(report.findings.map(\.kind) == [.failed, .failed])
            #expect(report.runs.count > 5)
        }
    }

    /// Moves the list in two parts, with a checkpoint between them.
    private static func rehearsedMove(through name: String) throws -> RehearsalReport {
        try Rehearsal(currentVersion: "3.3", from: [list("a\nb\n", at: "3.0")]).run(
            firstRun: { .existingData(at: exists("moved.txt", in: $0) ? "3.3" : "3.0") },
            { migrations, folder in
                try migrations.whenMigrating(toVersion: "3.3") { context in
                    if exists("moved.txt", in: folder), !exists("list.txt", in: folder) { return }
                    try write("a\n", to: name, in: folder)
                    try context.saveCheckpoint("a")
                    try write("a\nb\n", to: name, in: folder)
                    if name != "moved.txt" {
                        try FileManager.default.moveItem(
                            atPath: path(name, in: folder),
                            toPath: path("moved.txt", in: folder)
                        )
                    }
                    try FileManager.default.removeItem(atPath: path("list.txt", in: folder))
                }
            }
        )
    }

    @Test func `a detection that takes the first half of a migration for the whole is found`() throws {
        let report = try Self.rehearsedMove(through: "moved.txt")
        #expect(report.findings.map(\.kind) == [.firstRunSkips, .firstRunSkips])
        #expect(Set(report.findings.map(\.path)) == ["list.txt", "moved.txt"])
        let title = "killed after checkpoint 1 of 3.3, and the state was lost"
        let run = try #require(report.runs.first { $0.title == title })
        #expect(run.ran.isEmpty && run.appVersions.map(\.description) == ["3.3", "3.3"])
        let beginning =
            "From 3.0 to 3.3, \(title), with the answer of firstRun:, "
            + #"existingData(at: "3.3"): compared with one jump, "#
        let end =
            " In firstRun:, look for the last thing that migration 3.3 creates. Or let the migration create it under "
            + "another name, and rename it at its end."
        #expect(report.texts.allSatisfy { $0.hasPrefix(beginning) && $0.hasSuffix(end) })
    }

    @Test func `a migration that makes its files under another name first can lose its state`() throws {
        let report = try Self.rehearsedMove(through: "moving.txt")
        try report.requireClean()
        let title = "killed after checkpoint 1 of 3.3, and the state was lost"
        let run = try #require(report.runs.first { $0.title == title })
        #expect(run.ran == ["3.3"])
    }

    /// The first half makes nothing that the app could mistake for the whole.
    @Test func `each place of a closure at which the state can be lost is tried`() throws {
        let report = try Rehearsal(currentVersion: "3.3", from: [list("a\nb\n", at: "3.0")]).run(
            firstRun: { .existingData(at: exists("moved.txt", in: $0) ? "3.3" : "3.0") },
            { migrations, folder in
                try migrations.whenMigrating(toVersion: "3.3") { context in
                    try write("a\n", to: "moving.txt", in: folder)
                    try context.saveCheckpoint("a")
                    try write("a\n", to: "moved.txt", in: folder)
                    try context.saveCheckpoint("a, moved")
                    try write("a\nb\n", to: "moved.txt", in: folder)
                    for name in ["moving.txt", "list.txt"] where exists(name, in: folder) {
                        try FileManager.default.removeItem(atPath: path(name, in: folder))
                    }
                }
            }
        )
        let titles = report.runs.map(\.title).filter { $0.hasSuffix(", and the state was lost") }
        #expect(
            titles == [1, 2].map { "killed after checkpoint \($0) of 3.3, and the state was lost" }
        )
        #expect(Set(report.findings.map(\.kind)) == [.firstRunSkips])
        #expect(report.texts.allSatisfy { $0.contains("killed after checkpoint 2 of 3.3, and the state") })
    }
}

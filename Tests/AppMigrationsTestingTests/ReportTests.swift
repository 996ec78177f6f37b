import AppMigrations
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

struct ReportTests {
    @Test func `a report prints as a table with the first findings of each run below it`() throws {
        let numbers = (1...5).map { "\($0).txt" }
        let points: [StartingPoint] = [
            .version("1.0") { folder in for name in numbers { try write("", to: name, in: folder) } },
            .freshInstall { folder in for name in numbers { try write("1.1\n", to: name, in: folder) } },
        ]
        let report = try rehearse(named: "Library", from: points) { _ in }
        let missing = { (name: String) in
            "- From 1.0 to 1.1, in one jump: compared with a fresh install, line 1 of `\(name)` is missing: \"1.1\". "
                + "Perhaps a migration is missing."
        }
        let lines = "\(report)".split(separator: "\n").map(String.init)
        #expect(lines[0] == "Rehearsal of Library 1.1: 7 runs, 5 findings")
        let cells = lines[1...8].map { line in line.split(separator: /\s\s+/).map(String.init) }
        #expect(cells[0] == ["start", "run", "app", "ran", "time", "outcome"])
        #expect(cells[1][..<4] == ["1.0", "in one jump", "1.1", "1.1"])
        #expect(cells[4][..<4] == ["1.0", "killed after the closure of 1.1", "1.1 1.1", "1.1 1.1"])
        #expect(cells[7][..<4] == ["fresh install", "in one jump", "1.1", "–"])
        #expect(cells.map(\.last) == ["outcome"] + Array(repeating: "same", count: 6) + ["5 findings"])
        #expect(cells.dropFirst().allSatisfy { $0[4].hasSuffix(" ms") })
        for title in ["in one jump", "killed", "after 1.1 threw"] {
            let places = Set(lines[2...8].compactMap { $0.range(of: title)?.lowerBound.utf16Offset(in: $0) })
            #expect(places == [15], "\(title)")
        }
        #expect(
            lines[9...] == [
                missing("1.txt"), missing("2.txt"), missing("3.txt"), "  … and 2 more in this run",
            ]
        )
    }

    @Test func `starting points of one version are told apart, in the table and in the findings`() throws {
        let points = [
            list(), list().labeled("iPad"), list("1.1\n"), list().labeled("iPad"), list(at: "1.0.1"),
            .freshInstall { try write("1.0\n", to: "list.txt", in: $0) }.labeled("iPad"),
        ]
        let report = try Rehearsal(currentVersion: "1.1", from: points).run(firstRun: { _ in .everything }) {
            migrations,
            _ in
            try migrations.whenMigrating(toVersion: "1.1") {}
        }
        let asked = report.runs.filter { $0.title == "asked firstRun" }
        #expect(
            asked.map(\.start) == [
                "1.0", "1.0 (iPad)", "1.0 (2)", "1.0 (iPad) (2)", "1.0.1", "fresh install (iPad)",
            ]
        )
        #expect(
            report.texts.map { String($0.prefix { $0 != "," && $0 != ":" }) } == [
                "From 1.0 (2) to 1.1", "With a fresh install (iPad)",
            ]
        )
    }

    @Test func `a report says what can't be asked without a fresh install`() throws {
        func report(_ points: StartingPoint...) throws -> RehearsalReport {
            try rehearse(from: points) { try write("", to: "list.txt", in: $0) }
        }
        let line =
            "Not checked, because there is no freshInstall starting point: whether all upgrades lose the same data"
        let blind = try report(list(), list("1.0\n1.0\n"))
        #expect(blind.isClean)
        #expect("\(blind)".split(separator: "\n").last.map(String.init) == line)
        let asked = try report(list(), .freshInstall { try write("1.0\n", to: "list.txt", in: $0) })
        #expect(asked.findings.map(\.kind) == [.freshInstallDiffers])
        #expect(!"\(asked)".contains("Not asked"))
        #expect(try !"\(report(list(at: "1.1")))".contains("Not asked"))
    }

    @Test(arguments: [[], ["1.1"]])
    func `a rehearsal in which no closure runs is no clean one`(starts: [String]) throws {
        let report = try rehearse(from: starts.map { list(at: $0) }) { _ in }
        let error: any Error = try #require(throws: RehearsalFinding.self) { try report.requireClean() }
        #expect(["\(error)", error.localizedDescription] == report.texts + report.texts)
        #expect(report.findings.map(\.kind) == [.notRehearsed])
        #expect(
            report.texts == [
                "No migration ran, because every starting point is already at or above the declared versions. "
                    + "Add a starting point for each version that users upgrade from."
            ]
        )
    }

    @Test func `declarations without a version are rehearsed in no run that has to run one`() throws {
        let report = try Rehearsal(currentVersion: "1.1", from: [list()]).run { _, _ in }
        #expect(report.isClean)
        #expect(report.runs.map(\.title) == ["in one jump"])
    }

    @Test func `the folders of a rehearsal are gone when it is over, also after an error`() throws {
        struct NoFixture: Error {}
        let places = Log()
        let rehearsal = Rehearsal(currentVersion: "1.1", from: [list()])
        try rehearsal.run { migrations, folder in
            places.add(folder)
            try migrations.whenMigrating(toVersion: "1.1") {}
        }.requireClean()
        let failing = Rehearsal(
            currentVersion: "1.1",
            from: [
                .version("1.0") { folder in
                    places.add(folder)
                    throw NoFixture()
                }
            ]
        )
        #expect(throws: NoFixture.self) { try failing.run { _, _ in } }
        #expect(places.lines.count == 9)
        for folder in places.lines {
            let root = URL(filePath: folder).deletingLastPathComponent().deletingLastPathComponent()
            #expect(root.lastPathComponent.hasPrefix("AppMigrationsTesting-"))
            #expect(!FileManager.default.fileExists(atPath: root.path(percentEncoded: false)))
        }
    }

    @Test func `the runs can have another place, which is left empty`() throws {
        try withTemporaryFolder { place throws in
            let places = Log()
            let rehearsal = Rehearsal(currentVersion: "1.1", from: [list()], workingDirectory: place)
            try rehearsal.run { _, folder in places.add(folder) }.requireClean()
            #expect(!places.lines.isEmpty)
            #expect(places.lines.allSatisfy { $0.hasPrefix(place) })
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
        }
    }
}

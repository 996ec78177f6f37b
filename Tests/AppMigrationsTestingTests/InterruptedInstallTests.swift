import AppMigrations
import AppMigrationsTesting
import TestSupport
import Testing

/// A new user whose first start was killed before it created any data, and who then gets an update.
@Suite(.watchdog) struct InterruptedInstallTests {
    private let title = "updated after 1.2 was killed at its first start"

    private func report(
        adoptedIn adoption: String? = "1.1",
        fresh: Bool = true,
        _ migration: (_ folder: String) throws -> Void
    ) throws -> RehearsalReport {
        var points = [list("1.0\n1.1\n", at: "1.1"), list("1.0\n1.1\n1.2\n", at: "1.2")]
        if fresh {
            points.append(.freshInstall { try write("1.0\n1.1\n1.2\n1.3\n", to: "list.txt", in: $0) })
        }
        return try Rehearsal(currentVersion: "1.3", from: points).run(before: adoption) {
            migrations,
            folder in
            try declare(["1.1", "1.2"], migrations, in: folder)
            try migrations.whenMigrating(toVersion: "1.3") { try migration(folder) }
        }
    }

    @Test func `a migration that needs data is found`() throws {
        let report = try report { try addLine("1.3", in: $0) }
        let finding = try #require(report.findings.first)
        #expect(report.findings.count == 1)
        #expect(finding.kind == .failed)
        #expect(finding.version?.description == "1.3")
        let text = finding.description
        let start = "With a fresh install of 1.3, \(title): migration 1.3 threw: "
        #expect(text.hasPrefix(start), "\(text)")
        #expect(
            text.hasSuffix(
                " Release 1.2 can be killed at its first start, before it creates its data. "
                    + "The migrations after it must also work in an empty folder."
            ),
            "\(text)"
        )
    }

    @Test func `a migration that accepts a missing file is clean`() throws {
        let report = try report { folder in
            if exists("list.txt", in: folder) { try addLine("1.3", in: folder) }
        }
        try report.requireClean()
        let row = try #require(report.runs.first { $0.title == title })
        #expect(row.start == "fresh install")
        #expect(row.appVersions.map(\.description) == ["1.2", "1.3"])
        #expect(row.ran == ["1.3"])
    }

    @Test func `only releases with the library leave a state`() throws {
        for adoption in [nil, "1.3"] {
            let report = try report(adoptedIn: adoption) { try addLine("1.3", in: $0) }
            try report.requireClean()
            #expect(!report.runs.contains { $0.title.contains("killed at its first start") })
        }
        let report = try report(fresh: false) { try addLine("1.3", in: $0) }
        try report.requireClean()
    }

    @Test func `a run on nothing is not compared, and rehearses no version`() throws {
        let fresh = StartingPoint.freshInstall { try write("1.3\n", to: "list.txt", in: $0) }
        let report = try Rehearsal(currentVersion: "1.3", from: [fresh]).run(before: "1.1") {
            migrations,
            folder in
            for version in ["1.1", "1.2", "1.3"] { try migrations.whenMigrating(toVersion: version) {} }
        }
        #expect(report.findings.map(\.kind) == [.notRehearsed])
        #expect(report.unrehearsedVersions == ["1.1", "1.2", "1.3"])
        let row = try #require("\(report)".split(separator: "\n").first { $0.contains(title) })
        #expect(row.hasSuffix("no error"))
    }

    @Test func `a release whose data isn't upgraded any more is not started`() throws {
        let rehearsal = Rehearsal(
            currentVersion: "1.3",
            upgradesFrom: "1.3",
            from: [.freshInstall { try write("1.3\n", to: "list.txt", in: $0) }]
        )
        let report = try rehearsal.run(before: "1.1") { migrations, _ in
            for version in ["1.2", "1.3"] { try migrations.whenMigrating(toVersion: version) {} }
        }
        #expect(!report.runs.contains { $0.title.contains("killed at its first start") })
    }
}

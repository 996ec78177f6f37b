import AppMigrations
import AppMigrationsTesting
import Foundation
import Testing

/// Releases that start on data which a newer one made, and which is not for them any more.
struct OlderReleaseTests {
    private struct Outdated: Error {}

    private func rehearse(
        floor: String?,
        before adoption: String? = nil,
        _ start: (MigrationManager, _ folder: String) throws -> Void
    ) throws -> RehearsalReport {
        let rehearsal = Rehearsal(currentVersion: "1.3", from: [list(), list("1.0\n1.1\n", at: "1.1")])
        func run(_ migrations: MigrationManager, _ folder: String) throws {
            try start(migrations, folder)
            try declare(["1.1"], migrations, in: folder)
            try migrations.whenMigrating(toVersion: "1.2", minimumAppVersion: floor) {
                try addLine("1.2", in: folder)
            }
            try declare(["1.3"], migrations, in: folder)
        }
        guard let adoption else { return try rehearsal.run(run) }
        return try rehearsal.run(firstRun: { _ in .existingData(at: "1.0") }, before: adoption, run)
    }

    @Test(arguments: [nil, "1.1"])
    func `an older release that stops is clean; without the library none starts`(adoption: String?) throws {
        let report = try rehearse(floor: "1.2", before: adoption) { migrations, folder in
            if migrations.requiredAppVersion != nil { throw Outdated() }
            try write("opened", to: "opened", in: folder)
        }
        try report.requireClean()
        let rows = report.runs.filter { $0.title.hasPrefix("then ") }
        let releases = adoption == nil ? ["1.0", "1.1"] : ["1.1"]
        #expect(rows.map(\.title) == (releases + releases).map { "then \($0) started" })
        #expect(rows.first?.appVersions.map(\.description) == ["1.3", releases[0]])
        #expect(rows.first?.ran.map(\.description) == ["1.1", "1.2", "1.3"])
    }

    @Test func `a release below the oldest reader that writes all the same is found`() throws {
        let report = try rehearse(floor: "1.2") { migrations, folder in
            try write("\(migrations.currentVersion)", to: "opened", in: folder)
        }
        let found = report.findings.filter { $0.kind == .olderReleaseWrites }
        #expect(found.count == 4)
        #expect(
            found.first?.description
                == "From 1.0 to 1.3, then 1.0 was started on data that it must no longer change: compared "
                + #"with one jump, line 1 of `opened` is "1.0" instead of "1.3". At each start, check "#
                + "requiredAppVersion before anything is read or written, and don't continue if it isn't nil."
        )
    }

    @Test func `without an oldest reader no older release is started`() throws {
        let report = try rehearse(floor: nil) { _, _ in }
        try report.requireClean()
        #expect(!report.runs.contains { $0.title.hasPrefix("then ") })
    }
}

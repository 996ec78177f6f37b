import Foundation
import Testing

@testable import AppMigrations

/// The file: its form, where it is, and how it is replaced.
@Suite(.temporaryDirectory) struct StateFileTests {
    let folder = TemporaryDirectory.current

    private func file(_ folder: TemporaryDirectory) -> StateFile {
        StateFile(location: StateLocation(name: "Library", directory: folder.path))
    }

    private static let state = MigrationState(
        name: "Library",
        versions: StateVersions(lastRun: version("1.2"), baseline: version("1.1"), launched: version("1.4"))
    )

    @Test func `the state file of format 1 is read`() throws {
        let fixtures = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures").path
        let file = StateFile(location: StateLocation(name: "Format1", directory: fixtures))
        let state = try #require(try file.readState())
        #expect(state.versions.lastRun == version("1.4"))
        #expect(state.versions.baseline == version("1.1"))
        #expect(state.versions.launched == version("1.5"))
        let attempt = AttemptedMigration(
            version("1.5"),
            attemptCount: 2,
            crashCount: 1,
            by: version("1.5"),
            checkpoint: Checkpoint(text: "row 12", appVersion: version("1.5"), progress: 0.25)
        )
        #expect(
            state.versions.latestAttempt
                == LatestAttempt(
                    attempt,
                    at: 1_795_233_268,
                    failure: "The disk \"Daten\" is full: 100 %, nö 😅"
                )
        )
        #expect(state.versions.otherAttempts == [AttemptedMigration("1.4.1", 3, crashCount: 2, by: "1.4")])
        #expect(state.versions.minimumAppVersion == version("1.3"))
        let rows = try state.history.rows()
        #expect(rows.map(\.version.description) == ["1.2.5", "1.4"])
        #expect(rows.map(\.duration) == [.microseconds(12_300), .seconds(12)])
        #expect(rows.map(\.finishedAt) == [1_795_219_199, 1_795_219_200])
        #expect(rows.map(\.attemptCount) == [1, 3])
        #expect(try file.readVersions() == state.versions)
    }

    @Test func `a state is written in the order and form of the format`() throws {
        try folder.writeState(lastRun: "1.1")
        _ = try folder.manager("1.4").failure(of: "1.2")
        let text = try folder.stateText().replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "DATE")
        #expect(
            text == """
                {
                  "format" : 1,
                  "name" : "Library",
                  "lastRunVersion" : "1.1",
                  "baseline" : "1.1",
                  "launchedVersion" : "1.4",
                  "latestAttempt" : { "version" : "1.2", "attemptCount" : 1, "crashCount" : 0, \
                "appVersion" : "1.4", "startedAt" : "DATE", "failure" : "The disk is full." },
                  "history" : []
                }

                """
        )
    }

    @Test func `a state that isn't there is absent`() throws {
        #expect(try file(folder).readState() == nil)
        #expect(try file(folder).readVersions() == nil)
    }

    @Test func `a state that can't be reached is unreadable, and nothing is written`() throws {
        try folder.write("a file")
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(named: "x", currentVersion: "1", stateDirectory: folder.stateFile)
        }
        #expect(error.code == .stateUnreadable)
        #expect((error.underlyingError as? SystemCallError)?.call == "open")
        #expect(error.description.contains("could not be read: Not a directory (open, errno \(ENOTDIR))."))
        let long = "/" + String(repeating: "long/", count: 900)
        let second = try #require(throws: MigrationError.self) {
            try MigrationManager(named: "x", currentVersion: "1", stateDirectory: long)
        }
        #expect(second.code == .stateUnreadable)
        #expect(try folder.names() == ["Library.migrations.json"])
    }

    @Test func `a save leaves the state alone behind, for this user only`() throws {
        try file(folder).replace(with: Self.state.document)
        #expect(try folder.names() == ["Library.migrations.json"])
        #expect(try folder.mode(folder.stateFile) == 0o600)
        #expect(try file(folder).readState() == Self.state)
    }

    @Test func `the next save removes what a killed one left`() throws {
        try Data("half a sta".utf8).write(to: URL(fileURLWithPath: folder.obstacle))
        try file(folder).replace(with: Self.state.document)
        #expect(try folder.names() == ["Library.migrations.json"])
        #expect(try file(folder).readState() == Self.state)
    }

    @Test func `a save that fails leaves the old state`() throws {
        try file(folder).replace(with: Self.state.document)
        try folder.makeFolder(folder.obstacle)
        let next = Self.state.changed { $0.versions.lastRun = version("1.4") }
        #expect(throws: SystemCallError.self) { try file(folder).replace(with: next.document) }
        #expect(try file(folder).readState() == Self.state)
    }

    @Test func `a record only raises the versions, and ends the attempt`() {
        let known = AttemptedMigration("0.1", by: "0.2")
        var state = Self.state
        state.versions.latestAttempt = LatestAttempt(known, at: 0)
        state.record(AppliedMigration(known, after: .zero, at: 0, in: .zero))
        #expect(state.versions == Self.state.versions)
    }

    @Test func `the history keeps its newest thousand rows`() throws {
        var state = Self.state
        for number in 1...1_003 {
            let (known, last) = (AttemptedMigration("2.\(number)", by: "3"), state.versions.lastRun)
            try state.begin(LatestAttempt(known, at: 0), minimumAppVersion: .zero)
            state.record(AppliedMigration(known, after: last, at: 0, in: .zero))
        }
        #expect(state.history.count == 1_000)
        #expect(try state.history.rows().first?.version == version("2.4"))
        try file(folder).replace(with: state.document)
        let manager = try folder.manager("3")
        #expect(manager.lastRunVersion == version("2.1003"))
        try manager.declare("3")
        #expect(try manager.status.history.count == 1_000)
        #expect(try manager.status.history.first?.version == version("2.5"))
    }
}

import AppMigrations
import Foundation
import Testing

/// The values that a screen shows can be made without a state, for its preview and its tests.
///
/// They are made as an app makes them, so this file sees only the public names.
@Suite(.temporaryDirectory) struct PreviewTests {
    let folder = TemporaryDirectory.current

    @Test func `an error has what it is made of`() {
        let error = MigrationError(
            code: .lockTimeout,
            managerName: "Library",
            version: version("1.4"),
            path: "/data",
            underlyingError: CancellationError(),
            isTransient: true,
            description: "The extension is at work."
        )
        #expect(error.code == .lockTimeout)
        #expect(error.managerName == "Library")
        #expect(error.version == version("1.4"))
        #expect(error.path == "/data")
        #expect(error.underlyingError is CancellationError)
        #expect(error.isTransient)
        #expect("\(error)" == "The extension is at work.")
        let plain = MigrationError(code: .tooOld)
        #expect(plain.managerName == nil && plain.version == nil && plain.path == nil)
        #expect(plain.underlyingError == nil)
        #expect(!plain.isTransient)
        #expect("\(plain)" == "tooOld")
    }

    /// Each call that can throw has room for an error.
    @Test func `an error takes one word`() {
        #expect(MemoryLayout<MigrationError>.size == MemoryLayout<Int>.size)
    }

    @Test(arguments: [(0.999, ", 99 %"), (1, ", 100 %"), (.nan, ""), (.infinity, ""), (1e300, ""), (-1, "")])
    func `an event is a line, whatever fraction it has`(fraction: Double, text: String) {
        let event = MigrationEvent(
            kind: .progressed,
            managerName: "Library",
            version: version("1.4"),
            attempt: 2,
            fraction: fraction,
            note: "notes",
            duration: .seconds(3),
            error: MigrationError(code: .tooOld)
        )
        #expect("\(event)" == "Library progressed 1.4, attempt 2\(text), notes, 3.0 seconds: tooOld")
        #expect("\(MigrationEvent(kind: .waiting, managerName: "Library", attempt: 1))" == "Library waiting")
    }

    @Test func `an event and a row of a plan have what they are made of`() {
        let error = MigrationError(code: .migrationFailed)
        let event = MigrationEvent(
            kind: .failed,
            managerName: "Library",
            version: version("1.4"),
            previousVersion: version("1.3"),
            attempt: 2,
            fraction: 0.5,
            note: "notes",
            duration: .seconds(3),
            error: error
        )
        #expect(event.kind == .failed)
        #expect(event.managerName == "Library")
        #expect(event.version == version("1.4"))
        #expect(event.previousVersion == version("1.3"))
        #expect(event.attempt == 2)
        #expect(event.fraction == 0.5)
        #expect(event.note == "notes")
        #expect(event.duration == .seconds(3))
        #expect(event.error?.code == .migrationFailed)

        let row = PlannedMigration(kind: .refused, version: version("1.4"), progress: 0.5, error: error)
        #expect(row.description == "1.4 refused: migrationFailed")
        #expect(row.progress == 0.5)
        #expect(PlannedMigration(kind: .willRun, version: version("1.4")).description == "1.4 willRun")
    }

    @Test func `a status that is made prints and writes JSON as one that was read`() throws {
        let state = """
            { "format": 1, "name": "Library", "lastRunVersion": "1.2", "baseline": "1.0", "launchedVersion": "1.4",
              "minimumAppVersion": "1.5",
              "latestAttempt": { "version": "1.3", "attemptCount": 3, "crashCount": 1, "appVersion": "1.4",
                "checkpoint": "7", "checkpointAppVersion": "1.3", "progress": 0.5, "startedAt": "2026-11-21T03:54:28Z",
                "failure": "The disk is full." },
              "otherAttempts": [ { "version": "1.4", "attemptCount": 2, "crashCount": 2, "appVersion": "1.4" } ],
              "history": [ { "version": "1.2", "previousVersion": "1.0", "appVersion": "1.2",
                "finishedAt": "2026-10-02T18:20:01Z", "duration": 0.5, "attemptCount": 1 } ] }
            """
        try Data(state.utf8).write(to: URL(filePath: folder.stateFile))
        let made = MigrationStatus(
            name: "Library",
            appVersion: version("1.4"),
            stateFile: folder.stateFile,
            lastRunVersion: version("1.2"),
            baseline: version("1.0"),
            launchedVersion: version("1.4"),
            minimumAppVersion: version("1.5"),
            latestAttempt: UnfinishedMigration(
                version: version("1.3"),
                attemptCount: 3,
                crashCount: 1,
                appVersion: version("1.4"),
                startedAt: 1_795_233_268,
                failure: "The disk is full.",
                checkpoint: "7",
                checkpointAppVersion: version("1.3"),
                progress: 0.5
            ),
            otherAttempts: [
                UnfinishedMigration(
                    version: version("1.4"),
                    attemptCount: 2,
                    crashCount: 2,
                    appVersion: version("1.4")
                )
            ],
            history: [
                AppliedMigration(
                    version: version("1.2"),
                    previousVersion: version("1.0"),
                    appVersion: version("1.2"),
                    finishedAt: 1_790_965_201,
                    duration: .milliseconds(500)
                )
            ]
        )
        let read = try folder.look("1.4").status
        #expect(made.description == read.description)
        #expect(made.json == read.json)
    }

    @Test func `a status that is made takes what is missing from what is given`() {
        let none = MigrationStatus(name: "Library", appVersion: version("1.4"), stateFile: "/data")
        #expect(!none.hasState)
        let text = "There is no state yet: no version of the app has created one here."
        #expect(none.description.hasSuffix(text))
        let some = MigrationStatus(
            name: "Library",
            appVersion: version("1.4"),
            stateFile: "/data",
            lastRunVersion: version("1.3")
        )
        #expect(some.baseline == version("1.3"))
        #expect(some.launchedVersion == version("1.3"))
        let attempt = UnfinishedMigration(
            version: version("1.4"),
            appVersion: version("1.4"),
            checkpoint: "7",
            progress: .nan
        )
        #expect(attempt.checkpointAppVersion == version("1.4"))
        #expect(attempt.progress == 0)
    }

    @Test func `the states of a gate are made as a gate makes them`() {
        let locked = MigrationGate.State.waitingForUnlock(MigrationGate.RequiresUnlock())
        let outdated = MigrationGate.RequiresAppVersion(version: version("1.5"), managerName: "Library")
        guard case .waitingForUnlock(let reason) = locked else {
            Issue.record("\(locked)")
            return
        }
        #expect(
            "\(reason)"
                == "The device is locked, so the data can't be read or written. The start continues once the device is "
                + "unlocked."
        )
        #expect(
            "\(outdated)" == """
                The data of manager "Library" needs version 1.5 of the app or a newer version. None of the manager's \
                migrations was run. Update the app.
                """
        )
    }
}

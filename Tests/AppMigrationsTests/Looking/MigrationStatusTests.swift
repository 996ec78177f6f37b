import Foundation
import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory) struct MigrationStatusTests {
    let folder = TemporaryDirectory.current

    @Test func `a status says what stands in the file now`() throws {
        try folder.writeState(lastRun: "1.0", launched: "1.3")
        let look = try folder.look("1.4")
        #expect(try look.status.launchedVersion == version("1.3"))
        let manager = try folder.manager("1.4")
        try manager.declare("1.1")
        _ = try manager.failure(of: "1.2")
        for status in [try look.status, try manager.status] {
            #expect(status.name == "Library")
            #expect(status.appVersion == version("1.4"))
            #expect(status.stateFile == folder.stateFile)
            #expect(status.hasState)
            #expect(status.lastRunVersion == version("1.1"))
            #expect(status.baseline == version("1.0"))
            #expect(status.launchedVersion == version("1.4"))
            #expect(status.minimumAppVersion == nil)
            #expect(status.otherAttempts.isEmpty)
            #expect(status.history == (try manager.status.history))
            let latestAttempt = try #require(status.latestAttempt)
            #expect(latestAttempt.version == version("1.2"))
            #expect(latestAttempt.attemptCount == 1)
            #expect(latestAttempt.crashCount == 0)
            #expect(latestAttempt.appVersion == version("1.4"))
            #expect(latestAttempt.startedAt != nil)
            #expect(latestAttempt.failure == "The disk is full.")
            #expect(latestAttempt.isUnderWay == false)
        }
    }

    @Test func `where there is no state the status says so`() throws {
        let look = try folder.look("1.4", .everything)
        let status = try look.status
        #expect(!status.hasState)
        #expect(status.lastRunVersion == nil && status.baseline == nil && status.launchedVersion == nil)
        #expect(status.latestAttempt == nil && status.otherAttempts.isEmpty && status.history.isEmpty)
        #expect(
            status.description == """
                Migrations of "Library" in app version 1.4
                State: \(folder.stateFile)
                There is no state yet: no version of the app has created one here.
                """
        )
        let manager = try folder.manager("1.4")
        try folder.remove(folder.stateFile)
        #expect(try !manager.status.hasState)
    }

    @Test func `a state that can't be read or is damaged is an error`() throws {
        let look = try folder.look("1.4")
        try folder.write("{")
        let damaged = try #require(throws: MigrationError.self) { try look.status }
        #expect(damaged.code == .stateCorrupted)
        try folder.write(#"{ "format" : 2 }"#)
        let newer = try #require(throws: MigrationError.self) { try look.status }
        #expect(newer.code == .stateFromNewerFormat)
    }

    @Test(arguments: [false, true])
    func `a process that died counts, and one at work does not`(isReadOnly: Bool) throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: died(in: "1.2", before: 2))
        let options = MigrationManager.Options(isReadOnly: isReadOnly)
        let manager = try folder.manager("1.4", options: options)
        #expect(try manager.status.latestAttempt?.crashCount == 3)
        #expect(try manager.status.latestAttempt?.isUnderWay == false)
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") { () throws in
            let latestAttempt = try #require(try manager.status.latestAttempt)
            #expect(latestAttempt.isUnderWay == true)
            #expect(latestAttempt.crashCount == 3)
            #expect(latestAttempt.attemptCount == 4)
            #expect(try manager.status.description.contains("Under way: 1.2, attempts: 4, crashes: 3, "))
        }
        #expect(try manager.status.latestAttempt == nil)
    }

    @Test func `whether a migration is under way isn't guessed where the lock can't be looked at`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: died(in: "1.2", before: 2))
        try FileManager.default.createSymbolicLink(
            atPath: folder.lockFile,
            withDestinationPath: folder.lockFile
        )
        let latestAttempt = try #require(try folder.look("1.4").status.latestAttempt)
        #expect(latestAttempt.isUnderWay == nil)
        #expect(latestAttempt.crashCount == 3)
        #expect(try folder.look("1.4").status.description.contains("Interrupted or under way: 1.2, "))
    }

    @Test func `a data's oldest reader is told, and whether this app may read`() throws {
        try folder.writeState(lastRun: "2.0", more: #""minimumAppVersion": "1.5", "#)
        let older = try folder.look("1.4")
        #expect(try older.status.minimumAppVersion == version("1.5"))
        #expect(older.requiredAppVersion == version("1.5"))
        #expect(
            try older.status.description.contains(
                "\nOnly app version 1.5 or a later one may use the data. App version 1.4 must not use it.\n"
            )
        )
        let later = try folder.look("1.5")
        #expect(try later.status.minimumAppVersion == version("1.5"))
        #expect(later.requiredAppVersion == nil)
        #expect(try later.status.description.contains("use the data. App version 1.5 may use it.\n"))
    }

    @Test func `the text for a support mail is told word for word`() throws {
        try folder.write(Self.full)
        #expect(
            try folder.look("1.4").status.description == """
                Migrations of "Library" in app version 1.4
                State: \(folder.stateFile)
                Last-run version: 1.1-1. Baseline: 1.0. Newest app version started: 1.4.
                Only app version 1.2 or a later one may use the data. App version 1.4 may use it.
                Failed: 1.2, attempts: 3, crashes: 1, last attempt by app version 1.4, begun 2026-11-21T03:54:28Z
                  A checkpoint at 45 % was saved by app version 1.3.
                  Error: The disk is full.
                Pending: 1.3, tried before, attempts: 2, crashes: 2, last attempt by app version 1.4
                Migrations that have run: 2
                  1.1 (data was at 1.0), finished 2026-11-20T03:54:28Z by app version 1.3 in 0.0123 s, attempts: 1
                  1.1-1 (data was at 1.1), finished 2026-11-20T03:54:29Z by app version 1.3 in 2.0 s, attempts: 4
                """
        )
    }

    static let full = """
        { "format": 1, "name": "Library", "lastRunVersion": "1.1-1", "baseline": "1.0", "launchedVersion": "1.4",
          "minimumAppVersion": "1.2",
          "latestAttempt": { "version": "1.2", "attemptCount": 3, "crashCount": 1, "appVersion": "1.4",
            "startedAt": "2026-11-21T03:54:28Z", "failure": "The disk is full.", "checkpoint": "/Users/me/row 7",
            "checkpointAppVersion": "1.3", "progress": 0.45 },
          "otherAttempts": [ { "version": "1.3", "attemptCount": 2, "crashCount": 2, "appVersion": "1.4" } ],
          "history": [
            { "version": "1.1", "previousVersion": "1.0", "appVersion": "1.3", "finishedAt": "2026-11-20T03:54:28Z",
              "duration": 0.0123, "attemptCount": 1 },
            { "version": "1.1-1", "previousVersion": "1.1", "appVersion": "1.3", "finishedAt": "2026-11-20T03:54:29Z",
              "duration": 2, "attemptCount": 4 } ] }
        """
}

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
            #expect(status.requiredAppVersion == nil)
            #expect(status.attempted.isEmpty)
            #expect(status.history == (try manager.status.history))
            let interruption = try #require(status.interruption)
            #expect(interruption.version == version("1.2"))
            #expect(interruption.attempts == 1)
            #expect(interruption.deaths == 0)
            #expect(interruption.appVersion == version("1.4"))
            #expect(interruption.startedAt != nil)
            #expect(interruption.failure == "The disk is full.")
            #expect(interruption.isUnderWay == false)
            #expect(!interruption.awaitsRestore)
        }
    }

    @Test func `where there is no state the status says so`() throws {
        let look = try folder.look("1.4", .everything)
        let status = try look.status
        #expect(!status.hasState)
        #expect(status.lastRunVersion == nil && status.baseline == nil && status.launchedVersion == nil)
        #expect(status.interruption == nil && status.attempted.isEmpty && status.history.isEmpty)
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
        #expect(try manager.status.interruption?.deaths == 3)
        #expect(try manager.status.interruption?.isUnderWay == false)
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") { () throws in
            let interruption = try #require(try manager.status.interruption)
            #expect(interruption.isUnderWay == true)
            #expect(interruption.deaths == 3)
            #expect(interruption.attempts == 4)
            #expect(try manager.status.description.contains("Under way: 1.2, attempts: 4, crashes: 3, "))
        }
        #expect(try manager.status.interruption == nil)
    }

    @Test func `whether a migration is under way isn't guessed where the lock can't be looked at`() throws {
        try folder.writeState(
            lastRun: "1.1",
            launched: "1.4",
            more: died(in: "1.2", before: 2, isProtecting: true)
        )
        try FileManager.default.createSymbolicLink(
            atPath: folder.lockFile,
            withDestinationPath: folder.lockFile
        )
        let interruption = try #require(try folder.look("1.4").status.interruption)
        #expect(interruption.isUnderWay == nil)
        #expect(interruption.deaths == 3)
        #expect(interruption.awaitsRestore)
        #expect(try folder.look("1.4").status.description.contains("Interrupted or under way: 1.2, "))
    }

    @Test func `files that wait to be put back are told`() async throws {
        try folder.write("old\n", to: "data")
        await ProtectedPathTests.die(in: folder)
        let look = try folder.manager(upgradingTo: "1.2", options: MigrationManager.Options(isReadOnly: true))
        let status = try look.status
        #expect(status.interruption?.awaitsRestore == true)
        #expect(status.description.contains("\n  Protected files have to be restored."))
        #expect(!status.description.contains("data"))
        _ = try folder.manager(upgradingTo: "1.1")
        #expect(try look.status.interruption?.awaitsRestore == false)
    }

    @Test func `files of a migration that is under way don't wait to be put back`() throws {
        let data = try folder.write("old\n", to: "data")
        try folder.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1", protecting: [data]) {
            () throws in
            for isReadOnly in [false, true] {
                let options = MigrationManager.Options(isReadOnly: isReadOnly)
                let interruption = try folder.manager(upgradingTo: "1.1", options: options).status
                    .interruption
                #expect(interruption?.isUnderWay == true)
                #expect(interruption?.awaitsRestore == false)
            }
        }
    }

    @Test func `a data's oldest reader is told, and whether this app may read`() throws {
        try folder.writeState(lastRun: "2.0", more: #""minimumAppVersion": "1.5", "#)
        let older = try folder.look("1.4").status
        #expect(older.minimumAppVersion == version("1.5"))
        #expect(older.requiredAppVersion == version("1.5"))
        #expect(
            older.description.contains(
                "\nOnly app version 1.5 or a later one may use the data. App version 1.4 must not use it.\n"
            )
        )
        let later = try folder.look("1.5").status
        #expect(later.minimumAppVersion == version("1.5"))
        #expect(later.requiredAppVersion == nil)
        #expect(later.description.contains("use the data. App version 1.5 may use it.\n"))
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
          "interruption": { "version": "1.2", "attempts": 3, "deaths": 1, "isProtecting": false, "appVersion": "1.4",
            "startedAt": "2026-11-21T03:54:28Z", "failure": "The disk is full.", "checkpoint": "/Users/me/row 7",
            "checkpointAppVersion": "1.3", "progress": 0.45 },
          "attempted": [ { "version": "1.3", "attempts": 2, "deaths": 2, "appVersion": "1.4" } ],
          "history": [
            { "version": "1.1", "previousVersion": "1.0", "appVersion": "1.3", "finishedAt": "2026-11-20T03:54:28Z",
              "duration": 0.0123, "attempts": 1 },
            { "version": "1.1-1", "previousVersion": "1.1", "appVersion": "1.3", "finishedAt": "2026-11-20T03:54:29Z",
              "duration": 2, "attempts": 4 } ] }
        """
}

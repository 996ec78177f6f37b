import Foundation
import Testing

@testable import AppMigrations

/// `minimumAppVersion:`, the floor below which no app may use the data.
@Suite(.temporaryDirectory) struct MinimumAppVersionTests {
    let folder = TemporaryDirectory.current

    private static func floor(_ folder: TemporaryDirectory) throws -> AppVersion? {
        let location = StateLocation(name: "Library", directory: folder.path)
        return try StateFile(location: location).readState()?.versions.minimumAppVersion
    }

    @Test func `the floor is in the state before the closure runs, and stays when it threw`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.4", minimumAppVersion: "1.3") { () throws in
                #expect(try Self.floor(folder) == version("1.3"))
                throw Failure()
            }
        }
        #expect(try Self.floor(folder) == version("1.3"))
        #expect(manager.requiredAppVersion == nil)
    }

    @Test func `an app below the floor is told which one may use the data, whatever else could not be saved`()
        throws
    {
        // The newer app died in its closure, and its launch was never saved.
        try folder.writeState(lastRun: "1.1", launched: "1.2", more: #""minimumAppVersion" : "1.4","#)
        let manager = try folder.manager("1.3")
        #expect(manager.requiredAppVersion == version("1.4"))
        #expect(manager.launch == .downgrade(from: version("1.4")))
        let rows = try manager.plan { try $0.declare("1.1", "1.3") }
        #expect(rows.map(\.kind) == [.baseline, .refused])
        #expect(try manager.declare("1.1") == [])
        #expect(try manager.refusal(of: "1.2").code == .usedByNewerApp)
        #expect(try Self.floor(folder) == version("1.4"))
        let fitting = try folder.manager("1.4")
        #expect(fitting.requiredAppVersion == nil)
        #expect(fitting.launch == .upgrade(from: version("1.3")))
        #expect(try fitting.declare("1.2", "1.4") == ["1.2", "1.4"])
    }

    @Test(
        arguments: [
            ("2.4", "2.4", nil), ("2.4-1", "2.4", nil), ("2.4-1", "2.4.0", nil), ("2.4-1", "2.4-0", "2.4-1"),
            ("2.4-1", "2.3", "2.4"), ("2.4", "2.3.9", "2.4"), ("2.4", "2.4.1", nil), ("0", "0.1", nil),
        ] as [(String, String, String?)]
    )
    func `an app of the floor's release may use the data`(floor: String, app: String, newer: String?)
        throws
    {
        try folder.writeState(lastRun: "0", launched: "0", more: "\"minimumAppVersion\" : \"\(floor)\",")
        let manager = try folder.manager(app)
        #expect(manager.requiredAppVersion == (newer == nil ? nil : version(floor)))
        let launch = newer.map { MigrationManager.Launch.downgrade(from: version($0)) }
        #expect(manager.launch == launch ?? .upgrade(from: .zero))
    }

    @Test func `a manager made before the floor was raised is overtaken`() throws {
        let manager = try folder.manager("1.3", after: "1.1", launched: "1.3")
        let launched = try folder.stateText()
        try folder.write(
            launched.replacing("\"baseline\"", with: "\"minimumAppVersion\" : \"1.4\", \"baseline\"")
        )
        let error = try manager.refusal(of: "1.2")
        #expect(error.code == .usedByNewerApp)
        #expect(error.description.contains("version 1.4 of the app has begun"))
    }

    @Test func `the floor is only ever raised`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        try manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {}
        try manager.whenMigrating(toVersion: "1.3", minimumAppVersion: "1.1") {}
        #expect(try Self.floor(folder) == version("1.2"))
        try manager.whenMigrating(toVersion: "1.4") {}
        #expect(try Self.floor(folder) == version("1.2"))
        try manager.reset(to: "1.1")
        #expect(try Self.floor(folder) == version("1.2"))
        _ = try folder.forget()
        #expect(try folder.manager("1.1").requiredAppVersion == nil)
    }

    @Test func `what a fresh install begins with has the floors of what it doesn't run`() throws {
        let manager = try folder.manager("1.4")
        let ran = try manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {
            Issue.record("The closure ran.")
        }
        #expect(!ran)
        #expect(try Self.floor(folder) == version("1.2"))
        try manager.whenMigrating(toVersion: "1.4-1", minimumAppVersion: "1.4") {
            Issue.record("The closure ran.")
        }
        #expect(try Self.floor(folder) == version("1.4"))
        #expect(manager.lastRunVersion == version("1.4-1"))
        #expect(try folder.manager("1.3").requiredAppVersion == version("1.4"))
    }

    @Test func `a floor given later to what has run is saved once, and then costs no system call`() throws {
        try folder.writeState(lastRun: "1.4")
        try folder.manager("1.4").whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {}
        #expect(try Self.floor(folder) == version("1.2"))
        let manager = try folder.manager("1.4")
        try folder.remove(folder.stateFile)
        #expect(try manager.whenMigrating(toVersion: "1.1", minimumAppVersion: "1.1") {} == false)
        #expect(try manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {} == false)
    }

    @Test func `a newer app that was only launched keeps no app from raising the floor`() throws {
        let manager = try folder.manager("1.4", after: "1.2", launched: "1.5")
        #expect(try manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {} == false)
        #expect(try Self.floor(folder) == version("1.2"))
        #expect(try manager.whenMigrating(toVersion: "1.4", minimumAppVersion: "1.4") {})
        #expect(try Self.floor(folder) == version("1.4"))
    }

    @Test(arguments: [("1.5", ""), ("1.2", died(in: "1.5", app: "1.5"))])
    func `an app below what a newer one has begun raises no floor`(lastRun: String, more: String) throws {
        try folder.writeState(lastRun: lastRun, launched: "1.5", more: more)
        let manager = try folder.manager("1.4")
        #expect(try manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {} == false)
        #expect(try Self.floor(folder) == .zero)
    }

    @Test func `a floor that can't be saved with the intent is not there, and nothing runs`() throws {
        let manager = try folder.manager("1.4", after: "1.1", launched: "1.4")
        try folder.makeFolder(folder.obstacle)
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.4", minimumAppVersion: "1.4") { Issue.record("It ran.") }
        }
        #expect(error.code == .stateNotSaved)
        #expect(try Self.floor(folder) == .zero)
        let other = try folder.manager("1.4")
        let second = try #require(throws: MigrationError.self) {
            try other.whenMigrating(toVersion: "1.1", minimumAppVersion: "1.1") { Issue.record("It ran.") }
        }
        #expect(
            second.description.hasSuffix(
                "The minimumAppVersion: of migration 1.1 was not saved. The next start saves it. Make room on the disk, or make "
                    + "the folder writable, and start the app again."
            )
        )
    }

    @Test func `a floor above its migration, or one that can't be read, is refused before anything runs`()
        throws
    {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let above = """
            The minimumAppVersion: 1.4-1 of migration 1.4 in manager "Library" (\(folder.stateFile)) is above the migration's \
            own version: the app that runs the migration could not use the data. Migration 1.4 was not run. Pass at most 1.4 as minimumAppVersion:.
            """
        for (toVersion, floor, code, text) in [
            ("1.4", "1.4-1", MigrationError.Code.declaredOutOfOrder, above),
            (
                "1.1", "1.1.1", .declaredOutOfOrder,
                "Migration 1.1 was not run. Pass at most 1.1 as minimumAppVersion:."
            ),
            (
                "1.4", "1.x", .invalidVersion,
                "It is the minimumAppVersion: of migration 1.4 in manager \"Library\""
            ),
            ("1.1", "", .invalidVersion, "Migration 1.1 was not run."),
            (
                "1.0", "1.1", .declaredOutOfOrder,
                "Migration 1.0 was not run. Pass at most 1.0 as minimumAppVersion:."
            ),
        ] {
            let manager = try folder.manager("1.4")
            let error = try #require(throws: MigrationError.self) {
                try manager.whenMigrating(toVersion: toVersion, minimumAppVersion: floor) {
                    Issue.record("It ran.")
                }
            }
            #expect(error.code == code)
            #expect(error.description.contains(text), "\(error)")
            #expect(try manager.refusal(of: "1.4").code == .managerClosed)
            #expect(try Self.floor(folder) == .zero)
            guard code == .declaredOutOfOrder else { continue }
            let rows = try folder.manager("1.4").plan {
                try $0.whenMigrating(toVersion: toVersion, minimumAppVersion: floor) {}
            }
            #expect(rows.map(\.kind) == [.refused])
            #expect(rows.first?.error?.code == code)
        }
    }

    @Test func `a floor above its migration is refused also where the state has it already`() throws {
        try folder.writeState(lastRun: "1.4", more: #""minimumAppVersion" : "1.4","#)
        let manager = try folder.manager("1.4")
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", minimumAppVersion: "1.2") {}
        }
        #expect(error.code == .declaredOutOfOrder)
    }

    @Test func `a plan raises no floor`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let rows = try folder.manager("1.4").plan {
            try $0.whenMigrating(toVersion: "1.1", minimumAppVersion: "1.1") {}
            try $0.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {}
        }
        #expect(rows.map(\.kind) == [.baseline, .willRun])
        #expect(try Self.floor(folder) == .zero)
    }

    @Test func `an app below the floor can't set the mark`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.2", more: #""minimumAppVersion" : "1.4","#)
        let manager = try folder.manager("1.3")
        let before = try folder.stateText()
        let error = try #require(throws: MigrationError.self) { try manager.reset(to: "1.1") }
        #expect(error.code == .usedByNewerApp)
        #expect(
            error.description == """
                Only version 1.4 of the app or a later one may use the data of manager "Library" (\(folder.stateFile)), and this \
                app is 1.3. lastRunVersion was not changed. Start version 1.4 or a later one. If the data was replaced with older data, \
                call forgetState, and answer firstRun: with existingData(at:) and the version of that data.
                """
        )
        #expect(try folder.stateText() == before)
    }

    @Test func `asynchronous migrations raise the floor too`() async throws {
        let manager = try folder.manager("1.4", after: "1.1")
        try await manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") { await Task.yield() }
        try await manager.whenMigrating(toVersion: "1.3", minimumAppVersion: "1.3") { _ in await Task.yield()
        }
        #expect(try folder.manager("1.2").requiredAppVersion == version("1.3"))
    }
}

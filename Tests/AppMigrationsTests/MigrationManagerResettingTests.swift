import Foundation
import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory) struct MigrationManagerResettingTests {
    let folder = TemporaryDirectory.current

    @Test func `a reset sets the mark, and what lies after it runs again`() throws {
        let manager = try folder.manager("1.4")
        try manager.reset(to: "1.1")
        #expect(manager.lastRunVersion == version("1.1"))
        #expect(try manager.declare("1.1", "1.2", "1.4-1") == ["1.2", "1.4-1"])
        try manager.reset(to: "1.2-1")
        #expect(try manager.declare("1.2", "1.3") == ["1.3"])
        #expect(try manager.status.history.map(\.version.description) == ["1.2", "1.3"])
        #expect(try folder.stateText().contains("\"baseline\" : \"1.2-1\""))
    }

    @Test func `a reset opens a closed manager and clears the latest attempt`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        _ = try manager.failure(of: "1.2")
        try manager.reset(to: "1.1")
        #expect(try !folder.stateText().contains("latestAttempt"))
        try manager.whenMigrating(toVersion: "1.2") { context in #expect(context.attempt == 1) }
        #expect(manager.lastRunVersion == version("1.2"))
    }

    @Test func `a reset clears a limit of attempts that was reached`() throws {
        try folder.writeState(lastRun: "1.1", more: died(in: "1.2", before: 2))
        let manager = try folder.manager("1.4", options: MigrationManager.Options(attemptLimit: 3))
        #expect(try manager.refusal(of: "1.2").code == .attemptLimitReached)
        try manager.reset(to: "1.1")
        #expect(try manager.declare("1.2") == ["1.2"])
    }

    @Test func `a reset ends a downgrade`() throws {
        let manager = try folder.manager("1.4", after: "1.5")
        #expect(manager.launch == .downgrade(from: version("1.5")))
        try manager.reset(to: "1.2")
        #expect(try manager.declare("1.3") == ["1.3"])
        #expect(try folder.manager("1.4").launch == .same)
    }

    @Test(arguments: [("1.5", "newerThanCurrentVersion"), ("x", "invalidVersion")])
    func `a reset to a version that can't be changes nothing`(text: String, code: String) throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let before = try folder.stateText()
        let manager = try folder.manager("1.4")
        let error = try #require(throws: MigrationError.self) { try manager.reset(to: text) }
        #expect(error.code.description == code)
        #expect(try folder.stateText() == before)
        #expect(try manager.declare("1.2") == ["1.2"])
    }

    @Test func `a reset that can't be saved says so and leaves the manager as it was`() throws {
        let manager = try folder.manager("1.4", after: "1.1", launched: "1.4")
        _ = try manager.failure(of: "1.2")
        try folder.makeFolder(folder.obstacle)
        let error = try #require(throws: MigrationError.self) { try manager.reset(to: "1.0") }
        #expect(error.code == .stateNotSaved)
        #expect(error.description.contains("lastRunVersion was not changed."))
        #expect(try manager.refusal(of: "1.2").code == .managerClosed)
    }

    @Test func `it works on no state inside a closure of it`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        try manager.whenMigrating(toVersion: "1.2") {
            let reset = #expect(throws: MigrationError.self) { try manager.reset(to: "1.0") }
            #expect(reset?.code == .nested)
        }
        #expect(manager.lastRunVersion == version("1.2"))
    }

    @Test func `it doesn't write over a state of a newer format`() throws {
        let manager = try folder.manager("1.4")
        try folder.write(#"{ "format" : 2 }"#)
        let reset = try #require(throws: MigrationError.self) { try manager.reset(to: "1.0") }
        #expect(reset.code == .stateFromNewerFormat)
        #expect(try folder.stateText() == #"{ "format" : 2 }"#)
    }
}

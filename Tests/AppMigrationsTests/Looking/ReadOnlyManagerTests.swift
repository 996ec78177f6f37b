import Foundation
import Testing

@testable import AppMigrations

/// A manager that only looks; `Tests/Torture/looks` has the system calls, the users and the mounts.
@Suite(.temporaryDirectory) struct ReadOnlyManagerTests {
    let folder = TemporaryDirectory.current

    @Test func `what has run passes, and what is pending throws and closes the manager`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.3")
        let before = try folder.everything()
        let look = try folder.look("1.4")
        #expect(look.launch == .upgrade(from: version("1.3")))
        #expect(look.lastRunVersion == version("1.1"))
        #expect(try look.declare("1.0", "1.1") == [])
        let error = try look.refusal(of: "1.2")
        #expect(error.code == .readOnly)
        #expect(error.version == version("1.2"))
        #expect(
            error.description
                == "Migration 1.2 is pending and was not run, because manager \"Library\" (\(folder.stateFile)) was created "
                + "with isReadOnly. Create a manager without isReadOnly to run it. A read-only manager can still read the "
                + "plan and the status."
        )
        #expect(try look.refusal(of: "1.0").code == .managerClosed)
        #expect(try folder.everything() == before)
        #expect(try folder.manager("1.4").declare("1.1", "1.2") == ["1.2"])
    }

    @Test func `an asynchronous declaration throws too`() async throws {
        try folder.writeState(lastRun: "1.1")
        let look = try folder.look("1.4")
        #expect(try await look.whenMigrating(toVersion: "1.1") { await Task.yield() } == false)
        let error = await #expect(throws: MigrationError.self) {
            try await look.whenMigrating(toVersion: "1.2") { await Task.yield() }
        }
        #expect(error?.code == .readOnly)
        #expect(try folder.names() == ["Library.migrations.json"])
    }

    @Test func `a plan and the history are told, and a plan again`() throws {
        try folder.writeState(lastRun: "1.0")
        try folder.manager("1.4").declare("1.1")
        let before = try folder.everything()
        let look = try folder.look("1.5")
        for _ in 1...2 {
            let rows = try look.plan { try $0.declare("1.0", "1.1", "1.5", "1.6") }.map(\.description)
            #expect(rows[..<3] == ["1.0 baseline", "1.1 alreadyRun", "1.5 willRun"])
            #expect(rows[3].hasPrefix("1.6 refused: Migration 1.6 of manager \"Library\" "))
        }
        #expect(try look.status.history.map(\.version.description) == ["1.1"])
        #expect(try folder.everything() == before)
    }

    @Test func `an asynchronous plan is told too`() async throws {
        let rows = try await folder.look("1.4", .everything).plan { manager in
            try await manager.whenMigrating(toVersion: "1.2") { await Task.yield() }
        }
        #expect(rows.map(\.description) == ["1.2 willRun"])
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [
        (MigrationManager.FirstRun.freshInstall, "1.4", ["1.0 noState", "1.4 noState", "1.4-1 noState"]),
        (.existingData(at: "1.0"), "1.0", ["1.0 noState", "1.4 willRun", "1.4-1 willRun"]),
        (.everything, "0", ["1.0 willRun", "1.4 willRun", "1.4-1 willRun"]),
    ])
    func `without a state the first run's answer decides what a plan shows, and nothing is fixed`(
        answer: MigrationManager.FirstRun,
        lastRun: String,
        rows: [String]
    ) throws {
        try withTemporaryFolder { parent in
            // A folder that isn't there either.
            let folder = TemporaryDirectory(path: parent + "/inner/state")
            for _ in 1...2 {
                let look = try folder.look("1.4", answer)
                #expect(look.launch == .first)
                #expect(look.lastRunVersion == version(lastRun))
                #expect(try look.plan { try $0.declare("1.0", "1.4", "1.4-1") }.map(\.description) == rows)
                #expect(try look.status.history.isEmpty)
                let pending = rows.first { $0.hasSuffix("willRun") }.map { String($0.prefix { $0 != " " }) }
                if let pending {
                    if pending != "1.0" { #expect(try look.declare("1.0") == []) }
                    #expect(try look.refusal(of: pending).code == .readOnly)
                } else {
                    #expect(try look.declare("1.0", "1.4", "1.4-1") == [])
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent).isEmpty)
            // A manager that may write asks for itself.
            #expect(try folder.manager("1.4", firstRun: .everything).declare("1.0", "1.4") == ["1.0", "1.4"])
        }
    }

    @Test(arguments: [
        (MigrationManager.FirstRun.existingData(at: "9.0"), MigrationError.Code.newerThanCurrentVersion),
        (.existingData(at: "x"), .invalidVersion),
    ])
    func `an answer that can't be is refused as ever`(
        answer: MigrationManager.FirstRun,
        code: MigrationError.Code
    ) throws {
        let error = try #require(throws: MigrationError.self) { try folder.look("1.4", answer) }
        #expect(error.code == code)
        #expect(try folder.names().isEmpty)
    }

    @Test func `a state that was made since is what a plan and a declaration go by`() throws {
        let look = try folder.look("1.4", .existingData(at: "1.0"))
        let fresh = try folder.look("1.4", .freshInstall)
        _ = try folder.manager("1.4", firstRun: .existingData(at: "1.2"))
        let rows = try look.plan { try $0.declare("1.1", "1.2", "1.3") }
        #expect(rows.map(\.description) == ["1.1 baseline", "1.2 baseline", "1.3 willRun"])
        let others = try fresh.plan { try $0.declare("1.2", "1.4-1") }
        #expect(others.map(\.description) == ["1.2 baseline", "1.4-1 willRun"])
        #expect(try look.declare("1.1", "1.2") == [])
        #expect(try look.refusal(of: "1.3").code == .readOnly)
    }

    @Test func `a state that was there and is gone is no first run`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let look = try folder.look("1.4")
        try folder.remove(folder.stateFile)
        #expect(throws: MigrationError.self) { try look.plan { try $0.declare("1.2") } }
        #expect(try look.refusal(of: "1.2").code == .stateUnreadable)
    }

    @Test func `nothing is reset`() throws {
        try folder.writeState(lastRun: "1.1")
        let before = try folder.everything()
        let look = try folder.look("1.4")
        let changes: [(() throws -> Void, String)] = [
            ({ try look.reset(to: "1.0") }, "lastRunVersion was not changed."),
            ({ try look.resetAttempts() }, "The counts of crashes were not changed."),
        ]
        for (change, unchanged) in changes {
            let error = try #require(throws: MigrationError.self, performing: change)
            #expect(error.code == .readOnly)
            #expect(
                error.description
                    == "The manager \"Library\" (\(folder.stateFile)) was created with isReadOnly, so it can't change the "
                    + "state. \(unchanged) Create a manager without isReadOnly for this call."
            )
        }
        _ = try look.plan { manager in
            let error = #expect(throws: MigrationError.self) { try manager.reset(to: "1.0") }
            #expect(error?.code == .readOnly)
        }
        #expect(try folder.everything() == before)
        #expect(try look.declare("1.1") == [])
    }

    @Test func `what a newer app has begun is told by the plan and the declarations`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.5", more: died(in: "1.5", app: "1.5"))
        let look = try folder.look("1.4")
        #expect(look.launch == .downgrade(from: version("1.5")))
        #expect(try look.plan { try $0.declare("1.2") }.map(\.kind) == [.refused])
        #expect(try look.refusal(of: "1.2").code == .usedByNewerApp)
    }

    @Test func `a newer app that came since, or a mark that was lowered, is told as ever`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let looks = [try folder.look("1.4"), try folder.look("1.4")]
        try folder.writeState(lastRun: "1.1", launched: "1.5", more: died(in: "1.5", app: "1.5"))
        #expect(try looks[0].refusal(of: "1.2").code == .usedByNewerApp)
        try folder.writeState(lastRun: "1.0", launched: "1.4")
        #expect(try looks[1].refusal(of: "1.2").code == .managerClosed)
    }

    @Test func `data that is too old for this app is refused as ever`() throws {
        let options = MigrationManager.Options(upgradesFrom: "1.2", isReadOnly: true)
        for _ in 1...2 {
            let error = try #require(throws: MigrationError.self) {
                try folder.manager("1.4", firstRun: .existingData(at: "1.1"), options: options)
            }
            #expect(error.code == .tooOld)
            try folder.writeState(lastRun: "1.1")
        }
        #expect(try folder.names() == ["Library.migrations.json"])
    }

    @Test func `a look waits for no lock, and takes an attempt under way for no death`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") { () throws in
            let options = MigrationManager.Options(attemptLimit: 1, isReadOnly: true)
            let look = try folder.manager("1.4", options: options)
            #expect(try look.plan { try $0.declare("1.2") }.map(\.description) == ["1.2 willRun"])
        }
    }

    @Test func `what another process ran since is no reason to throw`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let look = try folder.look("1.4")
        try folder.manager("1.4").declare("1.2")
        #expect(try look.declare("1.2") == [])
        #expect(try look.refusal(of: "1.3").code == .readOnly)
    }

    @Test func `a limit of attempts that is reached is told by the plan, and not by the declaration`() throws
    {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: died(in: "1.2"))
        let options = MigrationManager.Options(attemptLimit: 1, isReadOnly: true)
        let look = try folder.manager("1.4", options: options)
        let rows = try look.plan { try $0.declare("1.2") }
        #expect(rows.map(\.error?.code) == [.attemptLimitReached])
        #expect(try look.refusal(of: "1.2").code == .readOnly)
    }

    @Test func `a plan with a limit of attempts says where the lock can't be looked at`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: died(in: "1.2"))
        try folder.link(folder.lockFile, to: folder.lockFile)
        let options = MigrationManager.Options(attemptLimit: 3, isReadOnly: true)
        let look = try folder.manager("1.4", options: options)
        let error = try #require(throws: MigrationError.self) { try look.plan { try $0.declare("1.2") } }
        #expect(error.code == .stateUnreadable)
        #expect(error.path == folder.lockFile)
        let rows = try folder.look("1.4").plan { try $0.declare("1.2") }
        #expect(rows.map(\.description) == ["1.2 willRun"])
    }
}

extension TemporaryDirectory {
    /// A manager that only looks.
    func look(_ current: String, _ firstRun: MigrationManager.FirstRun = .freshInstall) throws
        -> MigrationManager
    {
        try manager(current, firstRun: firstRun, options: MigrationManager.Options(isReadOnly: true))
    }
}

import Foundation
import Testing

@testable import AppMigrations

/// A version that a hotfix brought after a later one was released runs once, where it is declared out of order.
@Suite(.temporaryDirectory) struct OutOfOrderTests {
    let folder = TemporaryDirectory.current

    /// The state of an app 1.4 that ran 1.2 and 1.4 on data of 1.0.
    private func released() throws {
        try folder.manager(firstRun: .existingData(at: "1.0")).declare("1.2", "1.4")
    }

    private func history() throws -> [String] {
        try folder.manager().status.history.map { "\($0.version) from \($0.previousVersion)" }
    }

    @Test func `it runs once, and its row comes last`() throws {
        try released()
        for isFirst in [true, false] {
            let manager = try folder.manager()
            #expect(try manager.declare("1.2") == [])
            #expect(try manager.declareLate("1.3") == isFirst)
            #expect(try !manager.declareLate("1.4"))
            #expect(manager.lastRunVersion == version("1.4"))
        }
        #expect(try history() == ["1.2 from 1.0", "1.4 from 1.2", "1.3 from 1.4"])
        #expect(try folder.manager("1.5").declare("1.5") == ["1.5"])
        #expect(try !folder.manager("1.5").declareLate("1.3"))
    }

    @Test func `without the word it is missed`() throws {
        try released()
        #expect(try folder.manager().declare("1.3") == [])
        #expect(try folder.manager().declareLate("1.3"))
    }

    @Test func `each form of the declaration has it`() async throws {
        try released()
        #expect(try folder.manager().whenMigrating(toVersion: "1.2.1", outOfOrder: true) {})
        let second = try folder.manager().whenMigrating(toVersion: "1.2.2", outOfOrder: true) { context in
            #expect(context.previousVersion == version("1.4"))
        }
        let manager = try folder.manager()
        let third = try await manager.whenMigrating(toVersion: "1.2.3", outOfOrder: true) {
            await Task.yield()
        }
        let fourth = try await manager.whenMigrating(toVersion: "1.2.4", outOfOrder: true) { context in
            await Task.yield()
            #expect(context.attempt == 1)
        }
        #expect(second && third && fourth)
        let versions = try history().dropFirst(2)
        #expect(Array(versions) == ["1.2.1", "1.2.2", "1.2.3", "1.2.4"].map { "\($0) from 1.4" })
    }

    @Test func `above the last-run version it is a migration like any other`() throws {
        try released()
        let manager = try folder.manager("1.5")
        #expect(try manager.declareLate("1.5"))
        #expect(manager.lastRunVersion == version("1.5"))
        #expect(try !folder.manager("1.5").declareLate("1.5"))
    }

    @Test func `a fresh install and data of that version begin with its work`() throws {
        let fresh = try folder.manager("1.4")
        #expect(try !fresh.declareLate("1.3"))
        #expect(try folder.manager("1.5").declare("1.5") == ["1.5"])
        #expect(try !folder.manager("1.5").declareLate("1.3"))
        try folder.remove(folder.stateFile)
        let adopted = try folder.manager("1.5", firstRun: .existingData(at: "1.3"))
        #expect(try adopted.declare("1.5") == ["1.5"])
        let next = try folder.manager("1.5")
        #expect(try !next.declareLate("1.3"))
        #expect(try next.declareLate("1.4"))
    }

    @Test func `the order in which versions are declared stays strict`() throws {
        try released()
        let manager = try folder.manager()
        #expect(try !manager.declareLate("1.4"))
        let error = try #require(throws: MigrationError.self) { try manager.declareLate("1.3") }
        #expect(error.code == .declaredOutOfOrder)
    }

    @Test func `an attempt that failed is kept until it is recorded, whatever else runs`() throws {
        try released()
        let failed = #expect(throws: MigrationError.self) {
            try folder.manager().whenMigrating(toVersion: "1.3", outOfOrder: true) { context in
                try context.saveCheckpoint("half", progress: 0.5)
                throw Failure()
            }
        }
        #expect(failed?.code == .migrationFailed)
        // A release that doesn't declare it goes on.
        #expect(try folder.manager("1.5").declare("1.5", "1.5-1") == ["1.5", "1.5-1"])
        let rows = try folder.manager("1.5").plan { try $0.declareLate("1.3") }
        #expect(rows.map(\.description) == ["1.3 willRun"] && rows.first?.progress == 0.5)
        #expect(try folder.manager("1.5").status.interruption?.version == nil)
        #expect(try folder.manager("1.5").status.attempted.map(\.version) == [version("1.3")])
        let ran = try folder.manager("1.5").whenMigrating(toVersion: "1.3", outOfOrder: true) { context in
            #expect(context.attempt == 2 && context.isRetry)
            #expect(context.checkpoint == "half")
        }
        #expect(ran)
        #expect(try folder.manager("1.5").status.attempted.isEmpty)
        #expect(try folder.manager("1.5").status.history.last?.attempts == 2)
        #expect(try !folder.stateText().contains("interruption"))
    }

    @Test func `an attempt that failed isn't taken for a row that was dropped`() throws {
        try released()
        #expect(throws: MigrationError.self) {
            try folder.manager().whenMigrating(toVersion: "1.3", outOfOrder: true) { throw Failure() }
        }
        let file = try folder.manager().file
        let state = try #require(try file.readState())
        // The oldest row that goes is above it.
        try folder.write(String(decoding: state.withoutOldestRows(2).document, as: UTF8.self))
        #expect(try folder.stateText().contains(#""droppedVersion" : "1.4""#))
        let rows = try folder.manager().plan { try $0.declareLate("1.3") }
        #expect(rows.map(\.description) == ["1.3 willRun"])
        try folder.manager().whenMigrating(toVersion: "1.3", outOfOrder: true) { #expect($0.attempt == 2) }
        #expect(try history() == ["1.3 from 1.4"])
        #expect(try !folder.manager().declareLate("1.3"))
        #expect(try !folder.manager().declareLate("1.3.1"))
    }

    @Test func `an attempt from before a later version was recorded is kept as well`() throws {
        try released()
        #expect(throws: MigrationError.self) {
            try folder.manager("1.4.1").whenMigrating(toVersion: "1.4.1", outOfOrder: true) { context in
                try context.saveCheckpoint("half")
                throw Failure()
            }
        }
        // A release that was made without the hotfix.
        #expect(try folder.manager("1.5").declare("1.5", "1.5-1") == ["1.5", "1.5-1"])
        try folder.manager("1.6").whenMigrating(toVersion: "1.4.1", outOfOrder: true) { context in
            #expect(context.attempt == 2 && context.isRetry)
            #expect(context.checkpoint == "half")
        }
        #expect(try folder.manager("1.6").status.attempted.isEmpty)
    }

    @Test func `what was begun above it stays begun while it runs`() throws {
        try released()
        _ = try folder.manager("1.5").failure(of: "1.5")
        let manager = try folder.manager("1.5")
        #expect(try manager.declareLate("1.3"))
        try manager.whenMigrating(toVersion: "1.5") { #expect($0.attempt == 2) }
    }

    @Test func `a death in it is counted, and reaches the limit of attempts`() async throws {
        try released()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try library("1.4", in: path).whenMigrating(toVersion: "1.3", outOfOrder: true) { die() }
        }
        let limited = try folder.manager(options: .init(attemptLimit: 1))
        let error = #expect(throws: MigrationError.self) { try limited.declareLate("1.3") }
        #expect(error?.code == .attemptLimitReached)
        try folder.manager().resetAttempts()
        let again = try folder.manager(options: .init(attemptLimit: 1))
        try again.whenMigrating(toVersion: "1.3", outOfOrder: true) { #expect($0.attempt == 2) }
    }

    @Test func `files that it protects are put back after a death`() async throws {
        let state = folder.state
        try state.manager(firstRun: .existingData(at: "1.0")).declare("1.4")
        try folder.write("old\n", to: "data")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let manager = try library("1.4", in: path + "/state")
            try manager.whenMigrating(toVersion: "1.3", outOfOrder: true, protecting: [path + "/data"]) {
                try append("changed", to: path + "/data")
                die()
            }
        }
        let manager = try state.manager()
        #expect(try folder.read("data") == "old\n")
        #expect(try manager.declareLate("1.3"))
        #expect(try state.manager().lastRunVersion == version("1.4"))
    }

    @Test func `its minimum app version is saved with its intent`() throws {
        try released()
        try folder.manager("1.4").whenMigrating(
            toVersion: "1.3",
            outOfOrder: true,
            minimumAppVersion: "1.3"
        ) { () throws in
            #expect(try folder.stateText().contains(#""minimumAppVersion" : "1.3""#))
        }
        #expect(try folder.manager("1.2").requiredAppVersion == version("1.3"))
    }

    @Test func `a reset makes what lies above it pending again, and takes it from the history`() throws {
        try released()
        #expect(try folder.manager().declareLate("1.3"))
        let manager = try folder.manager()
        try manager.reset(to: "1.2")
        #expect(try history() == ["1.2 from 1.0"])
        #expect(try manager.declareLate("1.3"))
        #expect(try manager.declare("1.4") == ["1.4"])
        try manager.reset(to: "1.2")
        #expect(try manager.declare("1.4") == ["1.4"])
        let next = try folder.manager()
        #expect(try next.declareLate("1.3"))
    }

    @Test func `a reset of the state to the last-run version ends an attempt`() throws {
        try released()
        #expect(throws: MigrationError.self) {
            try folder.manager().whenMigrating(toVersion: "1.3", outOfOrder: true) { throw Failure() }
        }
        let manager = try folder.manager()
        try manager.reset(to: "1.4")
        #expect(try !folder.stateText().contains("interruption"))
        #expect(try !manager.declareLate("1.3"))
    }

    @Test func `a plan says that it will run, and runs nothing`() throws {
        try released()
        let kinds = {
            try folder.manager().plan { migrations in
                _ = try migrations.declareLate("0.9")
                _ = try migrations.declareLate("1.2")
                try migrations.declare("1.2.5")
                _ = try migrations.declareLate("1.3")
                _ = try migrations.declareLate("1.4-1")
            }.map(\.description)
        }
        let others = ["0.9 baseline", "1.2 alreadyRun", "1.2.5 missed"]
        #expect(try kinds() == others + ["1.3 willRun", "1.4-1 willRun"])
        #expect(try folder.manager().declareLate("1.3"))
        #expect(try kinds() == others + ["1.3 alreadyRun", "1.4-1 willRun"])
    }

    @Test func `a manager that only reads refuses it while it is pending`() throws {
        try released()
        let before = try folder.everything()
        let look = try folder.manager(options: .init(isReadOnly: true))
        let error = #expect(throws: MigrationError.self) { try look.declareLate("1.3") }
        #expect(error?.code == .readOnly)
        #expect(try folder.everything() == before)
        #expect(try folder.manager().declareLate("1.3"))
        #expect(try !folder.manager(options: .init(isReadOnly: true)).declareLate("1.3"))
    }

    @Test func `another process that ran it since leaves nothing to run`() throws {
        try released()
        let waiting = try folder.manager()
        #expect(try waiting.declareLate("1.2.5"))
        #expect(try folder.manager().declareLate("1.3"))
        #expect(try !waiting.declareLate("1.3"))
    }

    @Test func `a state that can't be read any more closes the manager`() throws {
        try released()
        let manager = try folder.manager()
        try folder.write("{")
        let error = #expect(throws: MigrationError.self) { try manager.declareLate("1.3") }
        #expect(error?.code == .stateCorrupted)
        #expect(try manager.refusal(of: "1.4").code == .managerClosed)
    }

    @Test func `inside a closure of the same state it is nested`() throws {
        try released()
        try folder.manager("1.5").whenMigrating(toVersion: "1.5") {
            let error = #expect(throws: MigrationError.self) { try folder.manager("1.5").declareLate("1.3") }
            #expect(error?.code == .nested)
        }
    }

    @Test func `a version that a newer app began or went beyond is refused by an older one`() throws {
        try released()
        #expect(throws: MigrationError.self) {
            try folder.manager("1.6").whenMigrating(toVersion: "1.3", outOfOrder: true) { throw Failure() }
        }
        let begun = #expect(throws: MigrationError.self) { try folder.manager("1.5").declareLate("1.3") }
        #expect(begun?.code == .usedByNewerApp)
        #expect(begun?.description.contains("version 1.6 of the app has begun") == true)
        // A reset to the last-run version would pass it over.
        let warning = #"reset(to: "1.4"): after that, migration 1.3 would count as run."#
        #expect(begun?.description.hasSuffix(warning) == true)
        #expect(try folder.manager("1.6").declareLate("1.3"))
        #expect(try !folder.manager("1.5").declareLate("1.3"))
        try folder.manager("1.6").declare("1.6")
        #expect(try !folder.manager("1.5").declareLate("1.3"))
        let passed = #expect(throws: MigrationError.self) { try folder.manager("1.5").declareLate("1.3.1") }
        #expect(passed?.code == .usedByNewerApp)
    }

    @Test(arguments: 0..<8)
    func `several that start at once run it once`(_: Int) throws {
        try released()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
                try library("1.4", in: folder.path).whenMigrating(toVersion: "1.3", outOfOrder: true) {
                    try append("ran", to: folder.file("trace"))
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try folder.read("trace") == "ran\n")
    }

    @Test func `it is asked of the history only above the baseline`() throws {
        try folder.manager().declare("1.4-1")
        _ = try folder.manager("1.5")
        let manager = try folder.manager("1.5")
        // Nothing reads the file for a version that the baseline has.
        try folder.write("{")
        #expect(try !manager.declareLate("1.3"))
    }
}

import Foundation
import Testing

@testable import AppMigrations

/// A state that changes under a manager, and handlers that stand in its way.
@Suite(.temporaryDirectory) struct StateLoweredTests {
    let folder = TemporaryDirectory.current

    @Test func `a manager doesn't jump over what another one's reset made pending`() throws {
        let manager = try folder.manager("1.4", after: "1.0", launched: "1.4")
        #expect(try manager.declare("1.1") == ["1.1"])
        try folder.manager("1.4").reset(to: "1.0")
        let error = try manager.refusal(of: "1.2")
        #expect(error.code == .managerClosed)
        #expect(
            error.description
                == "Migration 1.2 was not run: the state of manager \"Library\" (\(folder.stateFile)) was "
                + "reset after this manager was created, so versions that it declared before may be pending again. Create a new manager and "
                + "declare every migration again."
        )
        #expect(try folder.manager("1.4").declare("1.1", "1.2") == ["1.1", "1.2"])
    }

    @Test func `a floor that a version raises which has run doesn't make a manager jump either`() throws {
        let manager = try folder.manager("1.4", after: "1.2", launched: "1.4")
        try folder.manager("1.4").reset(to: "1.0")
        #expect(try !manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {})
        #expect(try manager.refusal(of: "1.3").code == .managerClosed)
    }

    @Test func `a declaration that is under way doesn't jump over what a reset of its manager made pending`()
        throws
    {
        try folder.manager("1.4", after: "1.2").declarations.withLock { declarations in
            let waiting = try #require(try declarations.declare(Declaration("1.3")))
            let versions = StateVersions(lastRun: version("1.0"))
            declarations.reopen(at: versions)
            let error = #expect(throws: MigrationError.self) {
                try declarations.decide(waiting, in: versions, attemptLimit: nil)
            }
            #expect(error?.code == .managerClosed)
        }
    }

    @Test func `a fresh install's sub-migration that another process died in runs`() throws {
        for mark in [#""freshInstall" : "1.4","#, ""] {
            let fresh = try folder.manager("1.4")
            try folder.writeState(lastRun: "1.4", launched: "1.4", more: mark + died(in: "1.4-1"))
            #expect(try fresh.declare("1.4-1", "1.4-2") == (mark == "" ? ["1.4-1", "1.4-2"] : ["1.4-1"]))
            try folder.remove(folder.stateFile)
        }
    }

    @Test(arguments: ["started", "failed"])
    func `a handler that wants the lock of its own migration is refused`(kind: String) throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let codes = Log()
        let options = MigrationManager.Options { event in
            guard event.kind.description == kind else { return }
            do throws(MigrationError) {
                try MigrationManager(named: "Library", currentVersion: "1.4", stateDirectory: folder.path)
                    .reset(to: "1.0")
            } catch {
                codes.add(error.code.description)
            }
        }
        let manager = try folder.manager("1.4", options: options)
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.2") { throw CancellationError() }
        }
        #expect(codes.lines == ["nested"])
    }
}

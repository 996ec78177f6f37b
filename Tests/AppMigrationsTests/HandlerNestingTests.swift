import Foundation
import Testing

@testable import AppMigrations

/// Handlers and plans that use a manager of the state that they are told of: refused at once, and never hung or run.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct HandlerNestingTests {
    let folder = TemporaryDirectory.current

    @Test(arguments: [true, false])
    func `a handler of a wait that declares a migration of the state is refused`(isSameManager: Bool) throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let log = Log()
        let lock = try #require(
            try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: folder.path))
        )
        let manager = Held()
        let options = MigrationManager.Options { event in
            log.add("\(event.kind)")
            guard event.kind == .waiting else { return }
            do {
                let used = isSameManager ? manager.manager : try folder.manager(options: manager.options)
                log.add("\(try #require(used).refusal(of: "1.2").code)")
            } catch {
                log.add("\(error)")
            }
            lock.unlock()
        }
        manager.options = options
        manager.manager = try folder.manager(options: options)
        let outer = try #require(manager.manager)
        #expect(try outer.declare("1.3") == ["1.3"])
        #expect(log.lines == ["waiting", "nested", "started", "finished"])
        manager.manager = nil
    }

    /// A thread that the closure starts has none of the values that are bound to the closure's.
    @Test func `a handler of progress that another thread reports is refused too`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let log = Log()
        let options = MigrationManager.Options { event in
            guard event.kind == .progressed else { return }
            let inner = Result {
                try folder.manager(options: .init(lockTimeout: .zero)).refusal(of: "1.3").code
            }
            log.add("\(inner)")
        }
        try folder.manager(options: options).whenMigrating(toVersion: "1.2") { context in
            let told = DispatchSemaphore(value: 0)
            Thread {
                context.reportProgress(0.5)
                told.signal()
            }.start()
            told.wait()
        }
        #expect(log.lines == ["success(nested)"])
    }

    @Test func `a declaration that can't tell whether it is nested closes its manager`() throws {
        let other = try library("1.4", in: folder.file("other"))
        let outer = try folder.manager(upgradingTo: "1.4")
        try outer.whenMigrating(toVersion: "1.4") {
            try FileManager.default.moveItem(atPath: folder.file("other"), toPath: folder.file("moved"))
            try folder.link("other", to: "other")
            #expect(try other.refusal(of: "1.1").code == .stateUnreadable)
            try folder.remove("other")
            try FileManager.default.moveItem(atPath: folder.file("moved"), toPath: folder.file("other"))
            #expect(try other.refusal(of: "1.2").code == .managerClosed)
        }
    }

    @Test(arguments: ["", "/", "//", "/.", "/../plans", "link"])
    func `another manager of the state is nested inside a plan, however its folder is written`(
        spelling: String
    ) throws {
        try withTemporaryDirectory { scratch throws in
            try scratch.makeFolder("plans")
            try scratch.link("link", to: "plans")
            let folder = scratch.file("plans")
            let path =
                switch spelling {
                case "link": scratch.file("link")
                default: folder + spelling
                }
            let managers = try [folder, path].map {
                try MigrationManager(currentVersion: "1.4", firstRun: .everything, stateDirectory: $0)
            }
            // No run has made the lock's file, which would tell two paths of one state too.
            try scratch.remove("plans/default.migrations.lock")
            let rows = try managers[0].plan { planned in
                #expect(try managers[1].refusal(of: "1.1").code == .nested)
                #expect(throws: MigrationError.self) { try managers[1].reset(to: "1.0") }
                try planned.whenMigrating(toVersion: "1.1") {}
            }
            #expect(rows.map(\.description) == ["1.1 willRun"])
            #expect(try managers[1].declare("1.1") == ["1.1"])
        }
    }

    @Test func `a manager of another folder, or of another name, works inside a plan`() throws {
        let manager = try folder.manager(upgradingTo: "1.4")
        _ = try manager.plan { _ in
            let other = try MigrationManager(
                named: "Other",
                currentVersion: "1.4",
                firstRun: .everything,
                stateDirectory: folder.state.path
            )
            #expect(try other.declare("1.1") == ["1.1"])
            let elsewhere = try library("1.4", in: folder.file("elsewhere"))
            #expect(try elsewhere.declare("1.1") == ["1.1"])
        }
    }

    @Test func `a state elsewhere is another one, also if its folder or that of the closure is missing`()
        throws
    {
        let folder = folder.state.path
        let file = StateLocation(name: "Library", directory: folder)
        let missing = StateLocation(name: "Library", directory: folder + "/missing")
        let stored = StateLocation(name: "Library", directory: folder, store: "table app_migration_state")
        let otherStore = StateLocation(
            name: "Library",
            directory: "elsewhere",
            store: "table app_migration_state"
        )
        for (outer, inner) in [
            (file, missing), (missing, file), (otherStore, file), (otherStore, missing), (stored, otherStore),
        ] {
            try RunToken.withToken(of: outer) { () throws in #expect(try RunToken.enclosing(inner) == nil) }
        }
    }

    @Test func `a token that has ended keeps none of those before it`() {
        let location = StateLocation(name: "Library", directory: "/d")
        var last: [RunToken] = []
        weak var first: RunToken?
        for number in 0..<8 {
            let token = RunToken(location, isPlan: true)
            if number == 0 { first = token }
            // Like a task that a plan has started, and that is still running when the plan has ended.
            last.first?.end()
            last = RunToken.$current.withValue(last) { token.openTokens }
        }
        #expect(last.count == 1)
        #expect(first == nil)
    }

    @Test func `a task that outlives an inner plan is still inside the closure around it`() throws {
        let location = StateLocation(name: "Library", directory: "/d")
        let closure = RunToken(location)
        let other = StateLocation(name: "Other", directory: "/d")
        let plan = RunToken(other, isPlan: true)
        let inPlan = RunToken.$current.withValue(closure.openTokens) { plan.openTokens }
        let later = RunToken.$current.withValue(inPlan) { RunToken(other, isPlan: true).openTokens }
        plan.end()
        for tokens in [inPlan, later] {
            try RunToken.$current.withValue(tokens) { () throws in
                #expect(try RunToken.enclosing(location) === closure)
                try RunToken.$current.withValue(RunToken(other, isPlan: true).openTokens) { () throws in
                    #expect(try RunToken.enclosing(location) === closure)
                }
            }
        }
        closure.end()
        try RunToken.$current.withValue(later) { () throws in #expect(try RunToken.enclosing(location) == nil)
        }
    }

    /// A manager and its options, for the handler that they are made with.
    private final class Held: @unchecked Sendable {
        var options = MigrationManager.Options()
        var manager: MigrationManager?
    }
}

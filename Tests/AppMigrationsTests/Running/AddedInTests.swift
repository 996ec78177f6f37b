import Foundation
import Testing

@testable import AppMigrations

/// A version that a hotfix brought after a later one was released, and that the main line has from a later release on.
@Suite(.temporaryDirectory) struct AddedInTests {
    let folder = TemporaryDirectory.current

    /// Starts release `app` of an app, and returns the versions that ran.
    ///
    /// The hotfix 1.4.1 was made from 1.4 when 1.5 was out already. The first release of the main line that has it is
    /// 1.5.1.
    private func start(_ app: String, _ firstRun: MigrationManager.FirstRun = .freshInstall) throws
        -> [String]
    {
        let current = version(app)
        let manager = try folder.manager(app, firstRun: firstRun)
        var ran = try manager.declare("1.4")
        if current >= version("1.5.1") {
            if try manager.declare("1.4.1", addedIn: "1.5.1") { ran.append("1.4.1") }
        } else if current.description.hasPrefix("1.4.") {
            ran += try manager.declare("1.4.1")
        }
        for other in ["1.5", "1.6"] where version(other) <= current { ran += try manager.declare(other) }
        return ran
    }

    /// Starts one release after the other, and returns the one in which 1.4.1 ran; `nil` if it never did.
    private func release(_ apps: [String], _ firstRun: MigrationManager.FirstRun) throws -> String? {
        var found: [String] = []
        for app in apps + [apps.last ?? ""] {
            if try start(app, firstRun).contains("1.4.1") { found.append(app) }
        }
        #expect(found.count <= 1)
        return found.first
    }

    /// The releases that a user started, the first of which was a fresh install, and the one in which 1.4.1 ran.
    static let installs: [([String], String?)] = [
        (["1.4", "1.5.1"], "1.5.1"),
        (["1.4", "1.5", "1.5.1"], "1.5.1"),
        (["1.4", "1.5", "1.6"], "1.6"),
        (["1.4", "1.4.1", "1.5.1"], "1.4.1"),
        (["1.4", "1.4.1", "1.5", "1.5.1"], "1.4.1"),
        (["1.4", "1.4.2", "1.5", "1.6"], "1.4.2"),
        (["1.4.1", "1.5.1"], nil),
        (["1.4.1", "1.5", "1.5.1"], nil),
        (["1.4.2", "1.5.1"], nil),
        (["1.4.2", "1.5", "1.6"], nil),
        (["1.5", "1.5.1"], "1.5.1"),
        (["1.5", "1.6"], "1.6"),
        (["1.5.1", "1.6"], nil),
        (["1.6"], nil),
        (["1.6", "1.6.1"], nil),
    ]

    /// The same with users who went back to an older release.
    static let downgrades: [([String], String?)] = [
        (["1.5", "1.4.1", "1.5.1"], "1.5.1"),
        (["1.4", "1.5", "1.4.1", "1.5.1"], "1.5.1"),
        (["1.5", "1.5.1", "1.5", "1.5.1"], "1.5.1"),
        (["1.5.1", "1.4.1", "1.5.1"], nil),
        (["1.6", "1.5.1"], nil),
    ]

    @Test(arguments: installs + downgrades)
    func `it runs once on data that no release with it made or migrated`(apps: [String], release: String?)
        throws
    {
        #expect(try self.release(apps, .freshInstall) == release)
    }

    @Test(
        arguments: [
            ("1.0", "1.5.1", "1.5.1"), ("1.4", "1.5.1", "1.5.1"), ("1.4.1", "1.5.1", nil),
            ("1.4.2", "1.5.1", nil), ("1.5", "1.5.1", "1.5.1"), ("1.5.1", "1.5.1", nil),
            ("1.5", "1.6", "1.6"),
            ("1.5.1", "1.6", nil), ("1.6", "1.6", nil),
        ] as [(String, String, String?)]
    )
    func `data from before this library is as its release made it`(at: String, app: String, release: String?)
        throws
    {
        #expect(try self.release([app], .existingData(at: at)) == release)
    }

    @Test(
        arguments: [
            ("1.4", ["1.4.1", "1.5", "1.5.2", "1.6"]), ("1.4.1", ["1.5", "1.5.2", "1.6"]),
            ("1.5", ["1.4.1", "1.5.2", "1.6"]), ("1.5.1", ["1.5.2", "1.6"]), ("1.5.2", ["1.6"]),
            ("1.5.3", ["1.6"]),
            ("1.6", ["1.5.2"]), ("1.6.1", []),
        ]
    )
    func `two hotfix lines are told apart`(installed: String, expected: [String]) throws {
        _ = try folder.manager(installed)
        for expected in [expected, []] {
            let manager = try folder.manager("1.6.1")
            var ran: [String] = []
            if try manager.declare("1.4.1", addedIn: "1.5.1") { ran.append("1.4.1") }
            ran += try manager.declare("1.5")
            if try manager.declare("1.5.2", addedIn: "1.6.1") { ran.append("1.5.2") }
            ran += try manager.declare("1.6")
            #expect(ran == expected)
        }
    }

    @Test(arguments: [("1.4", true), ("1.4.1", false), ("1.4.2", true), ("1.4.3", false), ("1.4.4", false)])
    func `a hotfix whose line is the main line itself is missing in the releases before addedIn`(
        installed: String,
        isRun: Bool
    ) throws {
        _ = try folder.manager(installed)
        #expect(try folder.manager("1.4.4").declare("1.4.1", addedIn: "1.4.3") == isRun)
    }

    /// A version's trailing zeros are no components: 1.4.1.0 is 1.4.1, whose line is 1.4, and that of 1.0.1 is 1.0.
    @Test(
        arguments: [
            ("1.4.1.0", "1.4.2", false), ("1.4.1.0", "1.4.1", false), ("1.4.1.0", "1.5", true),
            ("1.4.0.1", "1.4", true),
            ("1.4.0.1", "1.4.0.2", false), ("1.4.0.1", "1.4.1", true), ("1.0.1", "1.0.2", false),
            ("1.0.1", "1.1", true),
            ("1.0.1", "1.1.5", true),
        ]
    )
    func `a line is all components but the last, without trailing zeros`(
        hotfix: String,
        installed: String,
        isRun: Bool
    ) throws {
        _ = try folder.manager(installed)
        #expect(try folder.manager("2.0").declare(hotfix, addedIn: "2.0") == isRun)
    }

    /// The state of an app 1.4 that ran 1.2 and 1.4 on data of 1.0.
    private func released() throws {
        try folder.manager(firstRun: .existingData(at: "1.0")).declare("1.2", "1.4")
    }

    private func history() throws -> [String] {
        try folder.manager().status.history.map { "\($0.version) from \($0.previousVersion)" }
    }

    @Test func `its row comes last, and the last-run version stays`() throws {
        try released()
        for isFirst in [true, false] {
            let manager = try folder.manager()
            #expect(try manager.declare("1.2") == [])
            #expect(try manager.declare("1.3", addedIn: "1.4") == isFirst)
            #expect(manager.lastRunVersion == version("1.4"))
        }
        #expect(try history() == ["1.2 from 1.0", "1.4 from 1.2", "1.3 from 1.4"])
        #expect(try folder.manager("1.5").declare("1.5") == ["1.5"])
        #expect(try !folder.manager("1.5").declare("1.3", addedIn: "1.4"))
    }

    @Test func `without addedIn it is missed`() throws {
        try released()
        #expect(try folder.manager().declare("1.3") == [])
        #expect(try folder.manager().declare("1.3", addedIn: "1.4"))
    }

    @Test func `each form of the declaration has it`() async throws {
        try released()
        #expect(try folder.manager().whenMigrating(toVersion: "1.2.1", addedIn: "1.4") {})
        let second = try folder.manager().whenMigrating(toVersion: "1.2.2", addedIn: "1.4") { context in
            #expect(context.previousVersion == version("1.4"))
        }
        let manager = try folder.manager()
        let third = try await manager.whenMigrating(toVersion: "1.2.3", addedIn: "1.4") { await Task.yield() }
        let fourth = try await manager.whenMigrating(toVersion: "1.2.4", addedIn: "1.4") { context in
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
        #expect(try manager.declare("1.4.1", addedIn: "1.5"))
        #expect(manager.lastRunVersion == version("1.4.1"))
        #expect(try !folder.manager("1.5").declare("1.4.1", addedIn: "1.5"))
    }

    @Test(arguments: ["1.3", "1.3.0", "1.2"])
    func `a release that isn't above the version is refused`(addedIn: String) throws {
        try released()
        let manager = try folder.manager()
        let error = #expect(throws: MigrationError.self) { try manager.declare("1.3", addedIn: addedIn) }
        #expect(error?.code == .declaredOutOfOrder)
        #expect(error?.version == version("1.3"))
        #expect(try manager.refusal(of: "1.4").code == .managerClosed)
    }

    @Test func `a release above the app's version is refused, and so is what can't be read`() throws {
        try released()
        let newer = #expect(throws: MigrationError.self) {
            try folder.manager().declare("1.3", addedIn: "1.5")
        }
        #expect(newer?.code == .newerThanCurrentVersion)
        #expect(newer?.version == version("1.3"))
        let unreadable = #expect(throws: MigrationError.self) {
            try folder.manager().declare("1.3", addedIn: "next")
        }
        #expect(unreadable?.code == .invalidVersion)
        #expect(unreadable?.description.contains("\"next\"") == true)
    }

    @Test func `the order in which versions are declared stays strict`() throws {
        try released()
        let manager = try folder.manager()
        #expect(try manager.declare("1.4") == [])
        let error = #expect(throws: MigrationError.self) { try manager.declare("1.3", addedIn: "1.4") }
        #expect(error?.code == .declaredOutOfOrder)
    }

    @Test func `an attempt that failed is kept until it is recorded, whatever else runs`() throws {
        try released()
        let failed = #expect(throws: MigrationError.self) {
            try folder.manager().whenMigrating(toVersion: "1.3", addedIn: "1.4") { context in
                try context.saveCheckpoint("half", progress: 0.5)
                throw Failure()
            }
        }
        #expect(failed?.code == .migrationFailed)
        // A release that doesn't declare it goes on.
        #expect(try folder.manager("1.5").declare("1.5", "1.5-1") == ["1.5", "1.5-1"])
        let rows = try folder.manager("1.5").plan { _ = try $0.declare("1.3", addedIn: "1.4") }
        #expect(rows.map(\.description) == ["1.3 willRun"] && rows.first?.progress == 0.5)
        #expect(try folder.manager("1.5").status.latestAttempt == nil)
        #expect(try folder.manager("1.5").status.otherAttempts.map(\.version) == [version("1.3")])
        let ran = try folder.manager("1.5").whenMigrating(toVersion: "1.3", addedIn: "1.4") { context in
            #expect(context.attempt == 2 && context.isRetry)
            #expect(context.checkpoint == "half")
        }
        #expect(ran)
        #expect(try folder.manager("1.5").status.otherAttempts.isEmpty)
        #expect(try folder.manager("1.5").status.history.last?.attemptCount == 2)
        #expect(try !folder.stateText().contains("latestAttempt"))
    }

    @Test func `what isn't above the rows that were dropped counts as run, unless it was attempted`() throws {
        let dropped = #""droppedVersion" : "1.4","#
        try folder.writeState(lastRun: "1.4", baseline: "1.0", more: died(in: "1.3") + dropped)
        let rows = try folder.manager().plan { _ = try $0.declare("1.3", addedIn: "1.4") }
        #expect(rows.map(\.description) == ["1.3 willRun"])
        try folder.manager().whenMigrating(toVersion: "1.3", addedIn: "1.4") { #expect($0.attempt == 2) }
        #expect(try history() == ["1.3 from 1.4"])
        #expect(try !folder.manager().declare("1.3", addedIn: "1.4"))
        #expect(try !folder.manager().declare("1.3.1", addedIn: "1.4"))
        // A hotfix that is above the rows that were dropped.
        #expect(try folder.manager("1.5").declare("1.5") == ["1.5"])
        #expect(try folder.manager("1.5").declare("1.4.1", addedIn: "1.5"))
    }

    @Test func `an attempt from before a later version was recorded is kept as well`() throws {
        try released()
        #expect(throws: MigrationError.self) {
            try folder.manager("1.4.1").whenMigrating(toVersion: "1.4.1") { context in
                try context.saveCheckpoint("half")
                throw Failure()
            }
        }
        // A release that was made without the hotfix.
        #expect(try folder.manager("1.5").declare("1.5", "1.5-1") == ["1.5", "1.5-1"])
        try folder.manager("1.6").whenMigrating(toVersion: "1.4.1", addedIn: "1.6") { context in
            #expect(context.attempt == 2 && context.isRetry)
            #expect(context.checkpoint == "half")
        }
        #expect(try folder.manager("1.6").status.otherAttempts.isEmpty)
    }

    @Test func `what was begun above it stays begun while it runs`() throws {
        try released()
        _ = try folder.manager("1.5").failure(of: "1.5")
        let manager = try folder.manager("1.5")
        #expect(try manager.declare("1.3", addedIn: "1.4"))
        try manager.whenMigrating(toVersion: "1.5") { #expect($0.attempt == 2) }
    }

    @Test func `a crash in it is counted, and reaches the limit of attempts`() async throws {
        try released()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try library("1.4", in: path).whenMigrating(toVersion: "1.3", addedIn: "1.4") { die() }
        }
        let limited = try folder.manager(options: .init(attemptLimit: 1))
        let error = #expect(throws: MigrationError.self) { try limited.declare("1.3", addedIn: "1.4") }
        #expect(error?.code == .attemptLimitReached)
        try folder.manager().resetAttempts()
        let again = try folder.manager(options: .init(attemptLimit: 1))
        try again.whenMigrating(toVersion: "1.3", addedIn: "1.4") { #expect($0.attempt == 2) }
    }

    @Test(arguments: ["1.3", "1.4"])
    func `its minimum app version is saved with its intent, and is at most the release that added it`(
        minimum: String
    ) throws {
        try released()
        let isRun = try folder.manager().whenMigrating(
            toVersion: "1.3",
            addedIn: "1.4",
            minimumAppVersion: minimum
        ) { () throws in
            #expect(try folder.stateText().contains(#""minimumAppVersion" : "\#(minimum)""#))
        }
        #expect(isRun)
        #expect(try folder.manager("1.2").requiredAppVersion == version(minimum))
        let error = #expect(throws: MigrationError.self) {
            try folder.manager("1.5").whenMigrating(
                toVersion: "1.3",
                addedIn: "1.4",
                minimumAppVersion: "1.4.1"
            ) {}
        }
        #expect(error?.code == .declaredOutOfOrder)
    }

    @Test func `a reset makes what lies above it pending again, and takes it from the history`() throws {
        try released()
        #expect(try folder.manager().declare("1.3", addedIn: "1.4"))
        let manager = try folder.manager()
        try manager.reset(to: "1.2")
        #expect(try history() == ["1.2 from 1.0"])
        #expect(try manager.declare("1.3", addedIn: "1.4"))
        #expect(try manager.declare("1.4") == ["1.4"])
        try manager.reset(to: "1.2")
        #expect(try manager.declare("1.4") == ["1.4"])
    }

    @Test func `a reset to the version that it ran on takes its row from the history`() throws {
        try released()
        #expect(try folder.manager("1.5").declare("1.3", addedIn: "1.5"))
        let manager = try folder.manager("1.5")
        try manager.reset(to: "1.4")
        #expect(try history() == ["1.2 from 1.0", "1.4 from 1.2"])
        #expect(try manager.declare("1.3", addedIn: "1.5"))
    }

    @Test func `a reset of the state to the last-run version ends an attempt`() throws {
        try released()
        #expect(throws: MigrationError.self) {
            try folder.manager().whenMigrating(toVersion: "1.3", addedIn: "1.4") { throw Failure() }
        }
        let manager = try folder.manager()
        try manager.reset(to: "1.4")
        #expect(try !folder.stateText().contains("latestAttempt"))
        // The data is as release 1.4 makes it, which has the hotfix.
        #expect(try !manager.declare("1.3", addedIn: "1.4"))
    }

    @Test func `a plan says that it will run, and runs nothing`() throws {
        try released()
        let kinds = {
            try folder.manager().plan { migrations in
                _ = try migrations.declare("0.9", addedIn: "1.0")
                _ = try migrations.declare("1.2", addedIn: "1.4")
                try migrations.declare("1.2.5")
                _ = try migrations.declare("1.3", addedIn: "1.4")
                try migrations.declare("1.4-1")
            }.map(\.description)
        }
        let others = ["0.9 baseline", "1.2 alreadyRun", "1.2.5 missed"]
        #expect(try kinds() == others + ["1.3 willRun", "1.4-1 willRun"])
        #expect(try folder.manager().declare("1.3", addedIn: "1.4"))
        #expect(try kinds() == others + ["1.3 alreadyRun", "1.4-1 willRun"])
    }

    @Test func `a manager that only reads refuses it while it is pending`() throws {
        try released()
        let before = try folder.everything()
        let look = try folder.manager(options: .init(isReadOnly: true))
        let error = #expect(throws: MigrationError.self) { try look.declare("1.3", addedIn: "1.4") }
        #expect(error?.code == .readOnly)
        #expect(try folder.everything() == before)
        #expect(try folder.manager().declare("1.3", addedIn: "1.4"))
        #expect(try !folder.manager(options: .init(isReadOnly: true)).declare("1.3", addedIn: "1.4"))
    }

    @Test func `another process that ran it since leaves nothing to run`() throws {
        try released()
        let waiting = try folder.manager()
        #expect(try waiting.declare("1.2.5", addedIn: "1.4"))
        #expect(try folder.manager().declare("1.3", addedIn: "1.4"))
        #expect(try !waiting.declare("1.3", addedIn: "1.4"))
    }

    @Test func `a state that can't be read any more closes the manager`() throws {
        try released()
        let manager = try folder.manager()
        try folder.write("{")
        let error = #expect(throws: MigrationError.self) { try manager.declare("1.3", addedIn: "1.4") }
        #expect(error?.code == .stateCorrupted)
        #expect(try manager.refusal(of: "1.4").code == .managerClosed)
    }

    @Test func `inside a closure of the same state it is nested`() throws {
        try released()
        try folder.manager("1.5").whenMigrating(toVersion: "1.5") {
            let error = #expect(throws: MigrationError.self) {
                try folder.manager("1.5").declare("1.3", addedIn: "1.4")
            }
            #expect(error?.code == .nested)
        }
    }

    @Test func `an attempt of a newer app that replaced nothing refuses no older app`() throws {
        try released()
        let notes = folder.path + "-data"
        defer { _ = Result { try FileManager.default.removeItem(atPath: notes) } }
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        let path = notes + "/Notes"
        try Data("old".utf8).write(to: URL(filePath: path))
        #expect(throws: MigrationError.self) {
            try folder.manager("1.6").whenMigrating(toVersion: "1.3", addedIn: "1.5", replacing: path) {
                _,
                _ in
                throw Failure()
            }
        }
        #expect(
            try folder.manager("1.5").whenMigrating(toVersion: "1.3", addedIn: "1.5", replacing: path) {
                _,
                _ in
            }
        )
    }

    @Test func `a version that a newer app began is refused by an older one until it is recorded`() throws {
        try released()
        #expect(throws: MigrationError.self) {
            try folder.manager("1.6").whenMigrating(toVersion: "1.3", addedIn: "1.5") { throw Failure() }
        }
        let begun = #expect(throws: MigrationError.self) {
            try folder.manager("1.5").declare("1.3", addedIn: "1.5")
        }
        #expect(begun?.code == .usedByNewerApp)
        #expect(begun?.description.contains("version 1.6 of the app has begun") == true)
        #expect(try folder.manager("1.6").declare("1.3", addedIn: "1.5"))
        #expect(try !folder.manager("1.5").declare("1.3", addedIn: "1.5"))
        try folder.manager("1.6").declare("1.6")
        #expect(try !folder.manager("1.5").declare("1.3", addedIn: "1.5"))
    }

    @Test(arguments: 0..<8)
    func `several that start at once run it once`(_: Int) throws {
        try released()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
                try library("1.4", in: folder.path).whenMigrating(toVersion: "1.3", addedIn: "1.4") {
                    try append("ran", to: folder.file("trace"))
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try folder.read("trace") == "ran\n")
    }

    @Test func `data that a release with it made costs no reading`() throws {
        try folder.manager("1.4").declare("1.4-1")
        let manager = try folder.manager("1.4")
        // Nothing reads the file for a version that the baseline has.
        try folder.write("{")
        #expect(try !manager.declare("1.3", addedIn: "1.4"))
    }
}

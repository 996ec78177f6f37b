import Testing

@testable import AppMigrations

/// Whether a process that runs no migrations may use the data.
///
/// Without it, each extension and tool would have to find out by itself from a status and a plan, and one that forgets a
/// case reads data that is half migrated.
@Suite(.temporaryDirectory) struct ReadinessTests {
    let folder = TemporaryDirectory.current

    /// A state, and what a process of version 1.4 that declares 1.1 and 1.4 is told.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var lastRun: String
        var launched = "1.4"
        var more = ""
        var attemptLimit: Int?
        let readiness: MigrationManager.Readiness
    }

    static let rows = [
        Row("all has run", lastRun: "1.4", .ready),
        Row("one is pending", lastRun: "1.1", launched: "1.1", .needsMigration),
        Row("one has crashed", lastRun: "1.1", more: died(in: "1.4", app: "1.4"), .needsMigration),
        Row("too often", lastRun: "1.1", more: died(in: "1.4", app: "1.4"), attemptLimit: 1, .needsMigration),
        Row("a newer release, nothing pending", lastRun: "1.5", launched: "1.5", .ready),
        Row("begun", lastRun: "1.1", launched: "1.5", more: died(in: "1.5", app: "1.5"), newer("1.5")),
        Row("started, begun", lastRun: "1.1", launched: "9", more: died(in: "1.6", app: "1.6"), newer("1.6")),
        Row("nothing pending", lastRun: "1.4", launched: "1.5", more: died(in: "1.5", app: "1.5"), .ready),
        Row("a minimum", lastRun: "2.0", launched: "2.1", more: minimum("2.0"), newer("2.0")),
        Row("the minimum is this app", lastRun: "1.4", more: minimum("1.4"), .ready),
        // A sub-migration belongs to its release.
        Row("a minimum of this release", lastRun: "1.4-1", more: minimum("1.4-1"), .ready),
    ]

    private static func minimum(_ text: String) -> String { #""minimumAppVersion": "\#(text)","# }

    private static func newer(_ text: String) -> MigrationManager.Readiness { .needsNewerApp(version(text)) }

    private func look(_ attemptLimit: Int? = nil) throws -> MigrationManager {
        try folder.manager("1.4", options: .init(attemptLimit: attemptLimit, isReadOnly: true))
    }

    @Test(arguments: rows) func `a state says who has to come first`(row: Row) async throws {
        try folder.writeState(lastRun: row.lastRun, launched: row.launched, more: row.more)
        let before = try folder.everything()
        #expect(try look(row.attemptLimit).readiness { try $0.declare("1.1", "1.4") } == row.readiness)
        let awaited = try await look(row.attemptLimit).readiness { manager in
            try await manager.whenMigrating(toVersion: "1.1") { await Task.yield() }
            try await manager.whenMigrating(toVersion: "1.4") { await Task.yield() }
        }
        #expect(awaited == row.readiness)
        #expect(try folder.everything() == before)
    }

    @Test func `without a state, the app comes first, also on a new installation`() throws {
        for answer in [MigrationManager.FirstRun.freshInstall, .everything] {
            let look = try folder.manager("1.4", firstRun: answer, options: .init(isReadOnly: true))
            #expect(try look.readiness { try $0.declare("1.4") } == .needsMigration)
        }
        #expect(try folder.names().isEmpty)
    }

    @Test func `a migration under way is told, and one that has ended since`() throws {
        try folder.writeState(lastRun: "1.1")
        let look = try look()
        try folder.manager("1.4").whenMigrating(toVersion: "1.4") { () throws in
            #expect(try look.readiness { try $0.declare("1.1", "1.4") } == .isMigrating)
            // Not even if it declares nothing that is pending.
            #expect(try look.readiness { try $0.declare("1.1") } == .isMigrating)
        }
        #expect(try look.readiness { try $0.declare("1.1", "1.4") } == .ready)
    }

    @Test func `where the lock can't be looked at, a migration may be under way`() throws {
        try folder.writeState(lastRun: "1.4", more: died(in: "1.2", app: "1.4"))
        #expect(try look().readiness { try $0.declare("1.4") } == .ready)
        try folder.link("Library.migrations.lock", to: "Library.migrations.lock")
        #expect(try look().readiness { try $0.declare("1.4") } == .isMigrating)
    }

    @Test func `in the closure of withLock, an attempt that died is not under way`() throws {
        try folder.writeState(lastRun: "1.4", launched: "1.5", more: died(in: "1.5", app: "1.5"))
        let tool = try folder.manager("1.4")
        try tool.withLock { () throws in
            #expect(try look().readiness { try $0.declare("1.4") } == .ready)
            #expect(try tool.status.latestAttempt?.isUnderWay == false)
        }
        let other = try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: folder.path))
        #expect(try look().readiness { try $0.declare("1.4") } == .isMigrating)
        other?.unlock()
    }

    @Test func `a manager that lives long answers what a new one would`() throws {
        try folder.writeState(lastRun: "1.4", baseline: "1.0")
        let look = try look()
        let readiness = { try look.readiness { try $0.declare("1.1", "1.4") } }
        #expect(try readiness() == .ready)
        try folder.manager("1.4").reset(to: "1.1")
        #expect(try readiness() == .needsMigration)
        // An older state was restored.
        try folder.writeState(lastRun: "1.0", launched: "1.0")
        #expect(try readiness() == .needsMigration)
        try folder.manager("1.4").declare("1.1", "1.4")
        #expect(try readiness() == .ready)
    }

    @Test func `data that is too old is refused, as at a start`() throws {
        try folder.writeState(lastRun: "1.3")
        let options = MigrationManager.Options(upgradesFrom: "1.2", isReadOnly: true)
        let look = try folder.manager("1.4", options: options)
        #expect(try look.readiness { _ in } == .ready)
        try folder.writeState(lastRun: "1.1")
        let error = #expect(throws: MigrationError.self) { try look.readiness { _ in } }
        #expect(error?.code == .tooOld)
    }

    @Test(arguments: ["2.0", "1.4"])
    func `a folder between two renames isn't ready until the next start`(minimum: String) throws {
        let scratch = folder
        let working = scratch.path + "/.Notes@Library.migrating"
        try scratch.makeFolder("state")
        let more = #", "replacing": "../Notes", "minimumAppVersion": "\#(minimum)""#
        let state = scratch.state
        let isReady = {
            try state.manager("1.4", options: .init(isReadOnly: true))
                .readiness { try $0.declare("1.4") }
        }
        for isReplaced in [false, true] {
            try scratch.write("old", to: working + "/old/Notes/a")
            try scratch.makeFolder(working + "/ready-2.0")
            try scratch.write("new", to: isReplaced ? "Notes/a" : working + "/ready-2.0/Notes/a")
            let attempt = died(in: "2.0", app: "2.0", more: more)
            try state.writeState(lastRun: "1.4", launched: "2.0", more: attempt)
            #expect(try isReady() == .needsMigration)
            _ = try state.manager("1.4")
            #expect(try scratch.read("Notes/a") == (isReplaced ? "new" : "old"))
            let isExcluded = isReplaced && minimum == "2.0"
            #expect(try isReady() == (isExcluded ? .needsNewerApp(version("2.0")) : .ready))
            try scratch.remove("Notes")
        }
    }

    @Test func `a mistake in the declarations is an error, and no answer`() throws {
        try folder.writeState(lastRun: "1.4")
        let error = #expect(throws: MigrationError.self) {
            try look().readiness { try $0.declare("1.4", "1.6") }
        }
        #expect(error?.code == .newerThanCurrentVersion)
        #expect(throws: Failure.self) { try look().readiness { _ in throw Failure() } }
    }

    @Test func `a state that can't be read is an error, and no answer`() throws {
        try folder.writeState(lastRun: "1.4")
        let look = try look()
        try folder.write("{")
        let error = #expect(throws: MigrationError.self) { try look.readiness { try $0.declare("1.4") } }
        #expect(error?.code == .stateCorrupted)
    }
}

extension ReadinessTests.Row {
    init(
        _ testDescription: String,
        lastRun: String,
        launched: String = "1.4",
        more: String = "",
        attemptLimit: Int? = nil,
        _ readiness: MigrationManager.Readiness
    ) {
        self.init(
            testDescription: testDescription,
            lastRun: lastRun,
            launched: launched,
            more: more,
            attemptLimit: attemptLimit,
            readiness: readiness
        )
    }
}

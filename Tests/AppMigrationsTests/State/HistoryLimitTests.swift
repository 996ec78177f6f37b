import Testing

@testable import AppMigrations

/// A history that outgrows its state loses its oldest rows; no save is refused for it.
@Suite(.temporaryDirectory) struct HistoryLimitTests {
    let folder = TemporaryDirectory.current

    private static func row(_ text: String) -> AppliedMigration {
        AppliedMigration(
            version: version(text),
            previousVersion: .zero,
            appVersion: version("9"),
            finishedAt: 0,
            duration: .zero
        )
    }

    private static func state(_ rows: [AppliedMigration], padding: Int? = nil) -> MigrationState {
        var state = MigrationState(
            name: "Library",
            versions: StateVersions(lastRun: version("9"), launched: version("9")),
            history: History(rows: rows)
        )
        if let padding {
            let spaces = Array(repeating: UInt8(ascii: " "), count: padding)
            state.otherMembers = [.init(key: "x", text: Array("\"x\":".utf8) + spaces + Array("1".utf8))]
        }
        return state
    }

    private static let rows = ["1", "3", "2", "4"].map(row)

    /// A state whose text takes the limit, and `excess` bytes more.
    private static func full(_ excess: Int) -> MigrationState {
        state(rows, padding: StateFile.sizeLimit - state(rows, padding: 0).document.count + excess)
    }

    private static let location = StateLocation(name: "Library", directory: "/d")

    private static func saved(_ state: MigrationState) throws -> (size: Int, state: MigrationState)? {
        guard let bytes = try state.documentToSave(at: location) else { return nil }
        return (bytes.count, try #require(MigrationState(reading: bytes, name: "Library")))
    }

    private static func history(_ state: MigrationState) throws -> [String] {
        try state.history.rows().map(\.version.description)
    }

    @Test func `up to the limit all rows are written`() throws {
        let saved = try #require(try Self.saved(Self.full(0)))
        #expect(saved.size == StateFile.sizeLimit)
        #expect(try saved.state.history.rows() == Self.rows)
    }

    /// The highest version that was dropped takes a line itself.
    @Test(arguments: [1, 100, 150, 200, 300, 400])
    func `above it the oldest go, and the highest of their versions is kept`(excess: Int) throws {
        let saved = try #require(try Self.saved(Self.full(excess)))
        let kept = try Self.history(saved.state)
        #expect(saved.size <= StateFile.sizeLimit)
        #expect(kept.count < 4 && ["1", "3", "2", "4"].suffix(kept.count) == kept[...])
        #expect(saved.state.droppedVersion == version(kept.count == 3 ? "1" : "3"))
        if excess == 1 { #expect(kept.count == 3) }
    }

    @Test func `a text that is too long without any row is not written`() throws {
        #expect(try Self.saved(Self.state([Self.row("1")], padding: StateFile.sizeLimit)) == nil)
    }

    @Test func `an attempt at the thousand and first migration makes room for its row`() throws {
        var state = Self.state((1...MigrationState.historyLimit).map { Self.row("1.\($0)") })
        for (number, dropped) in [("9", "1.1"), ("9-1", "1.2")] {
            try state.begin(
                LatestAttempt(AttemptedMigration(number, by: "9"), at: 0),
                minimumAppVersion: .zero
            )
            state.record(Self.row(number))
            #expect(state.history.count == MigrationState.historyLimit)
            #expect(state.droppedVersion == version(dropped))
        }
        #expect(try Self.history(state).first == "1.3")
        let applied = try state.appliedVersions(at: Self.location)
        func hasRun(_ text: String) -> Bool {
            let declared = DeclaredMigration(version: version(text), addedIn: version("8"))
            return declared.hasRun(applied)
        }
        #expect(hasRun("1.1") && hasRun("1.2") && hasRun("1.3") && !hasRun("1.2.1"))
    }

    @Test func `a state at its limit is saved by the next migration, and read by the next start`() throws {
        let long = String(repeating: "1", count: 19)
        let rows = (1...997).map { number in
            Self.row("1.\(number)" + String(repeating: "." + long, count: 45))
        }
        let state = Self.state(rows)
        #expect(state.document.count < StateFile.sizeLimit)
        try folder.write(String(decoding: state.document, as: UTF8.self))
        let last = "9" + String(repeating: ".0", count: 1_000) + "-1"
        try folder.manager("9").declare(last)
        let status = try folder.manager("9").status
        #expect(status.history.last?.version == version("9-1"))
        #expect(status.history.count < 998)
        #expect(try folder.stateText().contains("\"droppedVersion\""))
        #expect(status.lastRunVersion == version("9-1"))
    }

    @Test func `a start with nothing pending reads the head of a state that lost rows`() throws {
        var state = Self.state([Self.row("1"), Self.row("2")])
        try state.dropOldestRows(1)
        #expect(StateHead.read(state.document, name: "Library") == state.versions)
    }

    @Test func `a plan counts what isn't above the rows that are lost as run`() throws {
        var state = Self.state(["1", "3", "2"].map(Self.row))
        try state.dropOldestRows(2)
        try folder.write(String(decoding: state.document, as: UTF8.self))
        let rows = try folder.manager("9").plan { migrations in
            for version in ["1", "1.5", "2", "3", "4"] { try migrations.declare(version) }
        }
        #expect(
            rows.map(\.description)
                == ["1 alreadyRun", "1.5 alreadyRun", "2 alreadyRun", "3 alreadyRun", "4 missed"]
        )
    }
}

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

    private static func state(_ rows: [AppliedMigration], unknownMembers: [UInt8] = []) -> MigrationState {
        let versions = StateVersions(lastRun: version("9"), launched: version("9"))
        return MigrationState(
            name: "Library",
            versions: versions,
            history: rows,
            unknownMembers: unknownMembers
        )
    }

    /// A state whose text takes the limit, and `excess` bytes more.
    private static func full(_ excess: Int) -> MigrationState {
        let rows = ["1", "3", "2", "4"].map(row)
        let size = state(rows).document.count
        let space = Array<UInt8>(repeating: 0x20, count: StateFile.sizeLimit - size + excess)
        return state(rows, unknownMembers: space)
    }

    private static func read(_ document: [UInt8]?) throws -> MigrationState {
        let bytes = try #require(document)
        return try #require(MigrationState(reading: bytes, name: "Library"))
    }

    @Test func `up to the limit all rows are written`() throws {
        let document = Self.full(0).documentToSave
        #expect(document?.count == StateFile.sizeLimit)
        #expect(try Self.read(document) == Self.state(["1", "3", "2", "4"].map(Self.row)))
    }

    /// The highest version that was dropped takes a line itself.
    @Test func `above it the oldest go, and the highest of their versions is kept`() throws {
        let size = Self.row("1").json.utf8.count + ",\n    ".utf8.count
        let line = "  \"droppedVersion\" : \"1\",\n".utf8.count
        let cases = [
            (1, ["3", "2", "4"], "1"), (size - line, ["3", "2", "4"], "1"),
            (size - line + 1, ["2", "4"], "3"), (size + 1, ["2", "4"], "3"), (2 * size + 1, ["4"], "3"),
        ]
        for (excess, rows, dropped) in cases {
            let document = Self.full(excess).documentToSave
            let state = try Self.read(document)
            #expect(document?.count ?? .max <= StateFile.sizeLimit)
            #expect(state.history.map(\.version.description) == rows, "\(excess)")
            #expect(state.droppedVersion == version(dropped), "\(excess)")
        }
    }

    @Test func `a text that is too long without any row is not written`() {
        let members = Array<UInt8>(repeating: 0x20, count: StateFile.sizeLimit)
        #expect(Self.state([Self.row("1")], unknownMembers: members).documentToSave == nil)
    }

    @Test func `the thousand and first row drops the oldest`() throws {
        let rows = (1...MigrationState.historyLimit).map { Self.row("1.\($0)") }
        let state = Self.state(rows).recording(Self.row("9"))
        #expect(state.history.count == MigrationState.historyLimit)
        #expect(state.history.first?.version == version("1.2"))
        #expect(state.droppedVersion == version("1.1"))
        #expect(state.recording(Self.row("9-1")).droppedVersion == version("1.2"))
        #expect(state.hasRun(version("1.1")) && !state.hasRun(version("1.1.1")))
    }

    @Test func `a state at its limit is saved by the next migration, and read by the next start`() throws {
        let long = String(repeating: "1", count: 19)
        let rows = (1...999).map { number in
            Self.row("1.\(number)" + String(repeating: "." + long, count: 45))
        }
        let state = Self.state(rows)
        #expect(state.document.count < StateFile.sizeLimit)
        try folder.write(String(decoding: state.document, as: UTF8.self))
        let last = "9" + String(repeating: ".0", count: 1_000) + "-1"
        try folder.manager("9").declare(last)
        let saved = try Self.read(Array(folder.stateText().utf8))
        #expect(saved.history.last?.version == version("9-1"))
        #expect(saved.history.count < 999 && saved.droppedVersion > .zero)
        #expect(try folder.manager("9").lastRunVersion == version("9-1"))
    }

    @Test func `a start with nothing pending reads the head of a state that lost rows`() {
        let state = Self.state([Self.row("1"), Self.row("2")]).withoutOldestRows(1)
        #expect(StateHead.read(state.document, name: "Library") == state.versions)
    }

    @Test func `a plan counts what isn't above the rows that are lost as run`() throws {
        let state = Self.state(["1", "3", "2"].map(Self.row)).withoutOldestRows(2)
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

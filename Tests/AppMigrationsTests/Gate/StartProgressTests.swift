import Testing

@testable import AppMigrations

/// What the events of a manager say about a start's progress.
struct StartProgressTests {
    private static func event(_ kind: MigrationEvent.Kind, _ fraction: Double? = nil, note: String? = nil)
        -> MigrationEvent
    {
        MigrationEvent(
            kind: kind,
            managerName: "Library",
            version: AppVersion("1.1"),
            fraction: fraction,
            note: note
        )
    }

    private static func planning(weights: Double...) throws -> StartProgress {
        var progress = StartProgress()
        for (index, weight) in weights.enumerated() {
            let version = try AppVersion(parsing: "1.\(index + 1)")
            progress.add(
                [version: StartProgress.Migration(weight: weight, checkpoint: 0)],
                of: index == 0 ? "Library" : "Search"
            )
        }
        return progress
    }

    @Test func `files that are copied before the closure are half of the step, and have no note`() throws {
        var progress = try Self.planning(weights: 1)
        expect(progress.apply(Self.event(.progressed, 0.5, note: "copying")))
        #expect(progress.fraction.value == 0.25 && progress.note == nil)
        expect(progress.apply(Self.event(.progressed, 1, note: "copying")))
        #expect(progress.fraction.value == 0.5)
        expect(progress.apply(Self.event(.started)))
        expect(progress.apply(Self.event(.progressed, 0.5, note: "Notes")))
        #expect(progress.fraction.value == 0.75 && progress.note == "Notes")
        expect(progress.apply(Self.event(.finished)))
        #expect(progress.fraction.value == 1 && progress.note == nil && progress.fraction.pending == 0)
    }

    @Test func `a migration that is recorded without running fills its part`() throws {
        var progress = try Self.planning(weights: 1, 1)
        expect(progress.apply(Self.event(.finished)))
        #expect(progress.fraction.value == 0.5 && progress.fraction.pending == 1)
    }

    @Test func `the copy of the next migration isn't taken for a closure that failed`() throws {
        var progress = try Self.planning(weights: 1, 1)
        expect(progress.apply(Self.event(.started)))
        expect(!progress.apply(Self.event(.failed)))
        expect(progress.apply(Self.event(.progressed, 0.5, note: "copying")))
        #expect(progress.note == nil && progress.fraction.value == 0.125)
    }

    @Test func `other events say nothing`() throws {
        var progress = try Self.planning(weights: 1)
        expect(progress.apply(Self.event(.started)))
        expect(progress.apply(Self.event(.progressed, 0.5, note: "Notes")))
        expect(!progress.apply(Self.event(.waiting)))
        #expect(progress.note == "Notes")
    }
}

/// `#expect` takes no call that changes a value.
private func expect(_ isTrue: Bool) { #expect(isTrue) }

import Testing

@testable import AppMigrations

/// The fraction of a gate's whole start, made of the fractions of its steps.
struct StartProgressTests {
    private static func event(
        _ kind: MigrationEvent.Kind,
        of version: String = "1.1",
        _ fraction: Double? = nil,
        note: String? = nil
    ) -> MigrationEvent {
        MigrationEvent(
            kind: kind,
            managerName: "Library",
            version: AppVersion(version),
            fraction: fraction,
            note: note
        )
    }

    /// Migrations of the versions 1.1, 1.2 and so on are pending.
    private static func planning(weights: Double...) throws -> StartProgress {
        var progress = StartProgress()
        for (index, weight) in weights.enumerated() {
            let version = try AppVersion(parsing: "1.\(index + 1)")
            progress.add([.migration(manager: "Library", version): .init(weight: weight)])
        }
        return progress
    }

    @Test func `steps have the parts of the bar that their weights give them`() throws {
        var progress = try Self.planning(weights: 1, 3)
        expect(progress.apply(Self.event(.started)))
        expect(progress.apply(Self.event(.progressed, 0.5)))
        #expect(progress.fraction == 0.125)
        expect(progress.apply(Self.event(.finished)))
        #expect(progress.fraction == 0.25)
        expect(progress.apply(Self.event(.started, of: "1.2")))
        expect(progress.apply(Self.event(.progressed, of: "1.2", 0.5)))
        #expect(progress.fraction == 0.625)
    }

    @Test(arguments: 1...100)
    func `each finished step is one less that is pending, and the last one fills the bar`(count: Int) {
        var progress = StartProgress()
        for step in 1...count { progress.add([.own("\(step)"): .init(weight: Double(step))]) }
        for step in 1...count {
            #expect(progress.fraction < 1)
            progress.beginStep("\(step)")
            progress.finishStep("\(step)")
            #expect(progress.pending.count == count - step)
        }
        #expect(progress.fraction == 1)
        progress.finishStep("0")
        #expect(progress.fraction == 1)
    }

    @Test func `a number out of range is the nearest in it`() {
        var progress = StartProgress()
        progress.beginStep("Notes")
        for number in [-1, Double.nan, -Double.infinity] {
            progress.reportProgress(number, note: nil)
            #expect(progress.fraction == 0)
        }
        progress.reportProgress(.infinity, note: nil)
        #expect(progress.fraction == 1)
    }

    @Test func `a migration that nobody planned has no part`() {
        var progress = StartProgress()
        expect(progress.apply(Self.event(.started)))
        expect(progress.apply(Self.event(.progressed, 0.5)))
        expect(progress.apply(Self.event(.finished)))
        #expect(progress.fraction == 0)
    }

    @Test func `a step that failed leaves the bar where it was, and the next one goes on from there`() throws
    {
        var progress = try Self.planning(weights: 1, 1)
        expect(progress.apply(Self.event(.started)))
        expect(progress.apply(Self.event(.progressed, 0.5)))
        expect(!progress.apply(Self.event(.failed)))
        progress.reportProgress(0.9, note: nil)
        #expect(progress.fraction == 0.25)
        expect(progress.apply(Self.event(.started, of: "1.2")))
        #expect(progress.fraction == 0.25)
    }

    @Test func `steps that are added during a step share what is left after it`() throws {
        var progress = try Self.planning(weights: 1, 1)
        expect(progress.apply(Self.event(.started)))
        expect(progress.apply(Self.event(.progressed, 0.5)))
        progress.add([.own("Search index"): .init()])
        #expect(progress.fraction == 0.25)
        expect(progress.apply(Self.event(.finished)))
        #expect(progress.fraction == 0.5)
        expect(progress.apply(Self.event(.finished, of: "1.2")))
        #expect(progress.fraction == 0.75)
    }

    @Test func `a start that is begun once more goes on where it was`() throws {
        var progress = try Self.planning(weights: 1, 1)
        expect(progress.apply(Self.event(.finished)))
        progress.forgetSteps()
        #expect(progress.fraction == 0.5 && progress.pending.isEmpty)
        progress.beginStep("Search index")
        progress.reportProgress(0.5, note: nil)
        #expect(progress.fraction == 0.75)
    }

    @Test func `files that are copied before the closure are half of the step, and have no note`() throws {
        var progress = try Self.planning(weights: 1)
        expect(progress.apply(Self.event(.progressed, 0.5, note: "copying")))
        #expect(progress.fraction == 0.25 && progress.note == nil)
        expect(progress.apply(Self.event(.progressed, 1, note: "copying")))
        #expect(progress.fraction == 0.5)
        expect(progress.apply(Self.event(.started)))
        expect(progress.apply(Self.event(.progressed, 0.5, note: "Notes")))
        #expect(progress.fraction == 0.75 && progress.note == "Notes")
        expect(progress.apply(Self.event(.finished)))
        #expect(progress.fraction == 1 && progress.note == nil && progress.pending.isEmpty)
    }

    @Test func `the copy of the next migration isn't taken for a closure that failed`() throws {
        var progress = try Self.planning(weights: 1, 1)
        expect(progress.apply(Self.event(.started)))
        expect(!progress.apply(Self.event(.failed)))
        expect(progress.apply(Self.event(.progressed, of: "1.2", 0.5, note: "copying")))
        #expect(progress.note == nil && progress.fraction == 0.125)
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

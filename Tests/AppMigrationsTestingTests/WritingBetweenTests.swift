import AppMigrations
import AppMigrationsTesting
import Foundation
import Testing

/// An older release to which a user goes back in the middle of an upgrade.
struct WritingBetweenTests {
    /// 1.1 moves each note to a file of its own, and 1.2 writes an index of these files.
    private func rehearse(
        minimum: String? = nil,
        before adoption: String? = nil,
        alwaysMoving: Bool
    ) throws -> RehearsalReport {
        let old = StartingPoint.version("1.0") { try write("Milk\n", to: "notes.txt", in: $0) }
            .writing { try append("Eggs\n", to: "notes.txt", in: $0) }
        let rehearsal = Rehearsal(currentVersion: "1.2", from: [old])
        return try rehearsal.run(
            firstRun: { _ in adoption == nil ? nil : .existingData(at: "1.0") },
            before: adoption
        ) { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1", minimumAppVersion: minimum) {
                try moveNotes(in: folder)
            }
            if alwaysMoving { try moveNotes(in: folder) }
            try migrations.whenMigrating(toVersion: "1.2") { try writeIndex(in: folder) }
        }
    }

    private func moveNotes(in folder: String) throws {
        guard exists("notes.txt", in: folder) else { return }
        for note in try read("notes.txt", in: folder).split(separator: "\n") {
            try write("", to: "\(note).md", in: folder)
        }
        try FileManager.default.removeItem(atPath: path("notes.txt", in: folder))
    }

    private func writeIndex(in folder: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
        try write(names.sorted().joined(separator: "\n"), to: "index", in: folder)
    }

    @Test func `what it writes between two migrations has to end like what it writes before them`() throws {
        let report = try rehearse(alwaysMoving: false)
        #expect(
            report.texts == [
                "From 1.0 to 1.2, 1.0 wrote after 1.1 had run: compared with one jump after 1.0 wrote, `\(missing)` is "
                    + "missing.\(advice)",
                "From 1.0 to 1.2, 1.0 wrote after 1.1 had run: compared with one jump after 1.0 wrote, line 1 of `index` "
                    + #"is "Milk.md" instead of "Eggs.md".\#(advice)"#,
                "From 1.0 to 1.2, 1.0 wrote after 1.1 had run: compared with one jump after 1.0 wrote, `notes.txt` exists, "
                    + "but shouldn't.\(advice)",
            ]
        )
        #expect(report.findings.allSatisfy { $0.kind == .writtenBetween })
        try rehearse(alwaysMoving: true).requireClean()
    }

    private var missing: String { "Eggs.md" }

    private var advice: String {
        " When migration 1.1 has run and the next one has failed, a user can go back to 1.0, which writes its own form of the "
            + "data. Convert that at every start, after the migrations. Or let one migration do both steps."
    }

    @Test func `the report has a row for each, with the releases that were started`() throws {
        let rows = try rehearse(alwaysMoving: true).runs.filter { $0.title.contains("wrote") }
        #expect(rows.map(\.title) == ["in one jump, after 1.0 wrote", "1.0 wrote after 1.1 had run"])
        #expect(rows.map { $0.appVersions.map(\.description) } == [["1.0", "1.2"], ["1.2", "1.0", "1.2"]])
        #expect(rows.map(\.ran) == [["1.1", "1.2"], ["1.1", "1.2"]])
    }

    @Test func `a release with the library is kept out by a minimum app version, one without it isn't`()
        throws
    {
        func titles(before adoption: String?) throws -> [String] {
            try rehearse(minimum: "1.1", before: adoption, alwaysMoving: true).runs.map(\.title)
                .filter { $0.contains("wrote") }
        }
        #expect(try titles(before: nil) == [])
        #expect(try titles(before: "1.0") == [])
        #expect(try titles(before: "1.1") == ["in one jump, after 1.0 wrote", "1.0 wrote after 1.1 had run"])
    }

    @Test func `if the upgrade fails after it wrote, only that is a finding`() throws {
        let old = list().writing { try write("2.0\n", to: "list.txt", in: $0) }
        let report = try Rehearsal(currentVersion: "1.2", from: [old]).run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1") {
                if try !read("list.txt", in: folder).hasPrefix("1.0") {
                    throw CocoaError(.fileReadCorruptFile)
                }
            }
            try declare(["1.2"], migrations, in: folder)
        }
        #expect(report.findings.map(\.kind) == [.failed])
        #expect(report.runs.filter { $0.title.contains("wrote") }.count == 1)
    }
}

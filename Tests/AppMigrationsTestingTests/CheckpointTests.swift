import AppMigrations
import AppMigrationsTesting
import Foundation
import Testing

/// Closures that save checkpoints, and are begun again at each of them.
struct CheckpointTests {
    static let items = ["a", "b", "c"]
    static let advice =
        "Migration 1.1 doesn't go on at its checkpoint: begin behind it, save it after the work that it stands for, and let "
        + "the work behind it be done twice."

    private func rehearse(
        _ item: (_ item: String, _ folder: String, _ save: () throws -> Void) throws -> Void
    ) throws -> RehearsalReport {
        try Rehearsal(currentVersion: "1.1", from: [list()]).run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1") { context in
                let done = try context.checkpoint(as: Int.self) ?? 0
                for (index, text) in Self.items.enumerated().dropFirst(done) {
                    try item(text, folder) { try context.saveCheckpoint(index + 1) }
                }
            }
        }
    }

    @Test func `a closure that goes on at its checkpoint is clean, killed before and after each of them`()
        throws
    {
        let report = try rehearse { item, folder, save in
            try addLine(item, in: folder)
            try save()
        }
        try report.requireClean()
        let titles = report.runs.map(\.title)
        let expected = [
            "killed before the intent of 1.1", "killed before the closure of 1.1",
            "killed before checkpoint 1 of 1.1", "killed after checkpoint 1 of 1.1",
            "killed before checkpoint 2 of 1.1", "killed after checkpoint 2 of 1.1",
            "killed before checkpoint 3 of 1.1", "killed after checkpoint 3 of 1.1",
            "killed after the closure of 1.1", "killed after the record of 1.1",
        ]
        #expect(titles.filter { $0.hasPrefix("killed") } == expected)
        let run = try #require(report.runs.first { $0.title == "killed after checkpoint 2 of 1.1" })
        #expect(run.appVersions.map(\.description) == ["1.1", "1.1"])
        #expect(run.ran.map(\.description) == ["1.1"])
    }

    @Test func `a closure that saves a checkpoint before the work skips it after a death`() throws {
        let report = try rehearse { item, folder, save in
            try save()
            try addLine(item, in: folder)
        }
        #expect(report.findings.map(\.kind) == [.notContinued, .notContinued, .notContinued])
        #expect(
            report.texts.first
                == "From 1.0 to 1.1, killed after checkpoint 1 of 1.1, and started again: compared "
                + #"with one jump, line 2 of `list.txt` is "b" and not "a". \#(Self.advice)"#
        )
        #expect(report.findings.first?.version?.description == "1.1")
    }

    @Test func `work that can't be done twice is found before the checkpoint that comes after it`() throws {
        let report = try rehearse { item, folder, save in
            try append(item + "\n", to: "list.txt", in: folder)
            try save()
        }
        let found = report.findings.filter { $0.kind == .notContinued }
        #expect(found.count == 3)
        #expect(
            found.first?.description
                == "From 1.0 to 1.1, killed before checkpoint 1 of 1.1, and started again: compared with one jump, "
                + #"line 3 of `list.txt` is "a" and not "b". \#(Self.advice)"#
        )
    }

    @Test func `a closure that can't go on at its checkpoint is told with its error`() throws {
        struct Lost: Error, CustomStringConvertible { let description = "the place is lost" }
        let report = try Rehearsal(currentVersion: "1.1", from: [list()]).run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1") { context in
                if context.checkpoint != nil { throw Lost() }
                try context.saveCheckpoint("half")
                try addLine("1.1", in: folder)
            }
        }
        #expect(
            report.texts.first
                == "From 1.0 to 1.1, killed after checkpoint 1 of 1.1, and started again: migration 1.1 "
                + "threw: the place is lost. \(Self.advice)"
        )
    }
}

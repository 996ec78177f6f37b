import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

/// Deaths where a closure has made something durable and isn't at its end.
@Suite(.watchdog) struct DeathTests {
    private static func killed(_ report: RehearsalReport) -> [String] {
        report.runs.filter { !$0.findings.isEmpty }.map(\.title)
    }

    @Test func `a closure that has titles only in memory while it synchronizes loses them there`() throws {
        let report = try Rehearsal(currentVersion: "1.1", from: [list("Milk\n")]).run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1") { context in
                if exists("titles.txt", in: folder) { return }
                var titles = ""
                if exists("list.txt", in: folder) {
                    titles = try read("list.txt", in: folder)
                    try FileManager.default.removeItem(atPath: path("list.txt", in: folder))
                }
                try context.synchronize([folder])
                try write(titles, to: "titles.txt", in: folder)
                try context.synchronize([folder])
            }
        }
        #expect(
            report.texts == [
                "From 1.0 to 1.1, killed after synchronize 1 of 1.1, and started again: compared with one jump, "
                    + #"line 1 of `titles.txt` is missing: "Milk". \#(RehearsalTests.notRepeatable)"#
            ]
        )
        #expect(report.findings.map(\.kind) == [.notRepeatable])
        let titles = report.runs.map(\.title)
        #expect(
            titles.filter { $0.contains("closure") || $0.contains("synchronize") } == [
                "killed before the closure of 1.1", "killed after synchronize 1 of 1.1",
                "killed after synchronize 2 of 1.1", "killed after the closure of 1.1",
            ]
        )
    }

    @Test func `batches that do everything in their transactions are clean, killed around each commit`()
        async throws
    {
        let report = try Self.rehearse { _ in { _ in } }
        try report.requireClean()
        let places = [
            "before the closure", "before commit 1", "after commit 1",
            "before checkpoint 1", "after checkpoint 1", "before commit 2", "after commit 2",
            "before commit 3", "after commit 3", "before commit 4", "after the closure",
        ].map { "killed \($0) of 1.1" }
        let killed = report.runs.map(\.title).filter { $0.hasPrefix("killed") }
        let begun = "killed before 1.1 was recorded as begun"
        #expect(killed == [begun] + places + ["killed after 1.1 was recorded as done"])
        let awaited = try await Self.rehearsal.run { migrations, folder in
            let open = { try Awaited(Self.open(folder)) }
            try await migrations.whenMigrating(toVersion: "1.1", in: open()) { db, batch, _ in
                let number = try (batch.cursor(as: Int.self) ?? 0) + 1
                _ = try await db.query("DELETE FROM note WHERE id = ?", [.integer(Int64(number))])
                return number == 4 ? .done : .continue(at: number)
            }
        }
        try awaited.requireClean()
        #expect(awaited.runs.map(\.title) == report.runs.map(\.title))
    }

    @Test func `a batch that appends to a file outside of its transaction does so twice`() throws {
        let report = try Self.rehearse { folder in
            { try append("Note \($0)\n", to: "titles.txt", in: folder) }
        }
        #expect(Self.killed(report) == (1...4).map { "killed before commit \($0) of 1.1" })
        let advice =
            "Migration 1.1 doesn't continue correctly after its last committed batch. A batch must not rely on values "
            + "that an earlier batch left in memory, and its work outside of its transaction must be repeatable."
        #expect(
            report.texts.first
                == "From 1.0 to 1.1, killed before commit 1 of 1.1, and started again: compared with one jump, "
                + #"line 2 of `titles.txt` is "Note 1" instead of "Note 2". \#(advice)"#
        )
        #expect(report.findings.allSatisfy { $0.kind == .notContinued && $0.version == "1.1" })
    }

    @Test func `a batch that leaves a title to the next one loses it after its commit`() throws {
        let report = try Self.rehearse { folder in
            var titles = ""
            return { number in
                titles += "Note \(number)\n"
                if number == 2 { return }
                try write(titles, to: "titles \(number).txt", in: folder)
                titles = ""
            }
        }
        #expect(Self.killed(report) == ["killed after commit 2 of 1.1", "killed before commit 3 of 1.1"])
        #expect(report.findings.map(\.path) == ["titles 3.txt", "titles 3.txt"])
    }

    private final class Awaited: AsyncSQLConnection {
        static var dialect: SQLDialect { .sqlite }

        private let db: SQLiteConnection

        init(_ db: SQLiteConnection) { self.db = db }

        nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws
            -> [[SQLValue]]
        {
            await Task.yield()
            return try db.query(sql, arguments)
        }
    }

    private static func open(_ folder: String) throws -> SQLiteConnection {
        try SQLiteConnection(path: path("list.sqlite", in: folder))
    }

    private static let rehearsal = Rehearsal(
        currentVersion: "1.1",
        from: [
            .version("1.0") { folder in
                let db = try open(folder)
                try db.query("CREATE TABLE note (id INTEGER PRIMARY KEY)")
                try db.query("INSERT INTO note VALUES (1), (2), (3), (4)")
            }
        ],
        comparing: [
            .comparing("list.sqlite", by: SQLiteComparison(ignoring: ["app_migrations"]).difference),
            .ignoring("list.sqlite-*"),
        ]
    )

    /// Rehearses a migration that deletes four notes, one a batch; `begin` is called at each start, and gives what a batch does
    /// outside of its transaction.
    private static func rehearse(_ begin: (_ folder: String) -> (Int) throws -> Void) throws
        -> RehearsalReport
    {
        try rehearsal.run { migrations, folder in
            let work = begin(folder)
            try migrations.whenMigrating(toVersion: "1.1", in: open(folder)) { db, batch, _ in
                let number = try (batch.cursor(as: Int.self) ?? 0) + 1
                try db.query("DELETE FROM note WHERE id = ?", [.integer(Int64(number))])
                try work(number)
                return number == 4 ? .done : .continue(at: number)
            }
        }
    }
}

/// Closures that save checkpoints, and are begun again at each of them.
@Suite(.watchdog) struct CheckpointTests {
    static let items = ["a", "b", "c"]
    static let advice =
        "Migration 1.1 doesn't continue correctly from its checkpoint. Begin at the saved checkpoint, save a checkpoint "
        + "only after the work that it records, and make the work after a checkpoint repeatable."

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
            "killed before 1.1 was recorded as begun", "killed before the closure of 1.1",
            "killed before checkpoint 1 of 1.1", "killed after checkpoint 1 of 1.1",
            "killed before checkpoint 2 of 1.1", "killed after checkpoint 2 of 1.1",
            "killed before checkpoint 3 of 1.1", "killed after checkpoint 3 of 1.1",
            "killed after the closure of 1.1", "killed after 1.1 was recorded as done",
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
                + #"with one jump, line 2 of `list.txt` is "b" instead of "a". \#(Self.advice)"#
        )
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
                + #"line 3 of `list.txt` is "a" instead of "b". \#(Self.advice)"#
        )
    }
}

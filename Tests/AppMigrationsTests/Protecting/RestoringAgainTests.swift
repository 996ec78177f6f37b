import Foundation
import Testing

@testable import AppMigrations

/// A restore that was killed is repeated by the next start, which touches nothing that is spent: the app may have written since.
@Suite(.temporaryDirectory) struct RestoringAgainTests {
    let scratch = TemporaryDirectory.current

    private static let names = ["data", "db", "db-wal", "made", "folder/a", "folder/b"]

    /// Dies in a closure that has changed a file, a database and a folder, and made a file.
    private static func die(_ scratch: TemporaryDirectory, folder mode: mode_t = 0o700) async throws {
        for name in names where name != "made" { try scratch.write("old\n", to: name) }
        try scratch.setMode(mode, of: "folder")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let manager = try library("1.1", in: path + "/state")
            // The last one's folder isn't there.
            let paths = ["data", "db", "made", "folder", "absent/index"].map { path + "/" + $0 }
            try manager.whenMigrating(toVersion: "1.1", protecting: paths) {
                for name in RestoringAgainTests.names { try append("new", to: path + "/" + name) }
                try append("new", to: path + "/db-shm")
                AppMigrationsTests.die()
            }
        }
    }

    private static func move(_ scratch: TemporaryDirectory, _ moves: [(String, String)]) throws {
        let copies = "state/Library.migrations.snapshot/"
        for (from, to) in moves {
            let names = [from, to].map { scratch.file($0.replacing("@", with: copies)) }
            try #require(rename(names[0], names[1]) == 0)
        }
    }

    /// How far the killed restore came, and what the app wrote after it.
    struct Row: Sendable {
        let moves: [(String, String)]
        let written: [String]
        /// A file that was made beside a database that isn't back yet belongs to another database.
        var stray: String?
    }

    static let rows = [
        Row(
            moves: [("data", "@0/replaced-1"), ("@0/entries-1", "@0/begun"), ("@0/item", "data")],
            written: ["data"]
        ),
        Row(
            moves: [
                ("db", "@1/replaced-1"), ("db-wal", "@1/replaced-2"), ("db-shm", "@1/replaced-3"),
                ("@1/entries-2", "@1/begun"), ("@1/absent-shm", "@1/absent-shm.spent"),
                ("@1/item-wal", "db-wal"),
            ],
            written: ["db-wal"],
            stray: "db-shm"
        ),
        Row(
            moves: [
                ("made", "@2/replaced-1"), ("@2/entries-0", "@2/begun"), ("@2/absent", "@2/absent.spent"),
            ],
            written: ["made"]
        ),
        Row(
            moves: [("folder", "@3/replaced-1"), ("@3/entries-3", "@3/begun"), ("@3/item", "folder")],
            written: ["folder/a", "folder/c"]
        ),
        // A folder that couldn't be moved as a whole: one of its entries is back.
        Row(
            moves: [
                ("folder/a", "@3/replaced-1"), ("folder/b", "@3/replaced-2"),
                ("@3/entries-3", "@3/begun"), ("@3/item", "@3/item.entries"),
                ("@3/item.entries/a", "folder/a"),
            ],
            written: ["folder/a", "folder/c"]
        ),
    ]

    @Test(arguments: rows)
    func `what is back already stays as the app wrote it, and the rest is put back`(row: Row) async throws {
        try await Self.die(scratch)
        try Self.move(scratch, row.moves)
        for name in row.written { try scratch.write("app", to: name) }
        if let stray = row.stray { try scratch.write("app", to: stray) }
        _ = try scratch.manager(upgradingTo: "1.1")
        for name in Self.names + ["db-shm", "folder/c"] {
            let wasThere = Self.names.contains(name) && name != "made"
            if row.written.contains(name) {
                #expect(try scratch.read(name) == "app", "\(name)")
            } else if wasThere {
                #expect(try scratch.read(name) == "old\n", "\(name)")
            } else {
                #expect(!scratch.exists(name), "\(name)")
            }
        }
        try scratch.expectNoCopies()
    }

    /// The owner needs the right to write to a folder that is moved, and a kill can come before it is taken back.
    @Test(arguments: [[], rows[3].moves, rows[4].moves.dropLast()])
    func `a folder gets its own rights back, wherever the restore was killed`(
        moves: [(String, String)]
    ) async throws {
        try await Self.die(scratch, folder: 0o555)
        for name in ["folder", "state/Library.migrations.snapshot/3/item"] {
            try scratch.setMode(0o755, of: name)
        }
        try Self.move(scratch, moves)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.mode("folder") == 0o555)
        #expect(try scratch.read("folder/b") == "old\n")
        try scratch.expectNoCopies()
    }

    /// A folder that can't be moved gets its entries back one by one, and a link that took its place leads elsewhere.
    @Test func `entries go back to their folder only, and not through a link`() async throws {
        try await Self.die(scratch)
        try Self.move(scratch, Self.rows[4].moves.dropLast())
        try scratch.remove("folder")
        try scratch.write("somebody's", to: "other/a")
        try scratch.link("folder", to: scratch.file("other"))
        let error = try #require(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        let reason = "/folder was a folder when the copies were made; put that folder back in its place"
        #expect(error.code == .protectionFailed && error.description.contains(reason), "\(error)")
        #expect(try scratch.read("other/a") == "somebody's")
        try scratch.remove("folder")
        _ = try scratch.manager(upgradingTo: "1.1")
        for name in ["folder/a", "folder/b"] { #expect(try scratch.read(name) == "old\n") }
        try scratch.expectNoCopies()
    }

    /// The next start finds the mark that is left, and nothing at its place.
    @Test func `a restore that ended before its state was saved changes nothing`() async throws {
        try await Self.die(scratch)
        try scratch.makeFolder(scratch.state.obstacle)
        for round in 0..<2 {
            let error = try #require(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
            #expect(error.code == .protectionFailed)
            let reason =
                "protects are the same as before the migration, but this could not be saved in the state in manager"
            #expect(error.description.contains(reason), "\(error)")
            #expect(try scratch.read("data") == (round == 0 ? "old\n" : "app"))
            #expect(scratch.exists("made") == (round == 1))
            // The replaced file can be the one that fills the disk.
            #expect(!scratch.exists("state/Library.migrations.snapshot/0/replaced-1"))
            for name in ["data", "made", "db-shm", "folder/c"] { try scratch.write("app", to: name) }
        }
        try scratch.remove(scratch.state.obstacle)
        _ = try scratch.manager(upgradingTo: "1.1")
        for name in ["data", "made", "db-shm", "folder/c"] { #expect(try scratch.read(name) == "app") }
        try scratch.expectNoCopies()
    }

    @Test func `copies that are emptied between two tries are not put back`() async throws {
        try await Self.die(scratch)
        try Self.move(
            scratch,
            [("data", "@0/replaced-1"), ("@0/entries-1", "@0/begun"), ("@0/item", "data")]
        )
        try scratch.remove("state/Library.migrations.snapshot/3/item/a")
        let error = #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error?.code == .protectionFailed)
        #expect(try scratch.read("folder/a") == "old\nnew\n")
        #expect(try scratch.read("db") == "old\nnew\n")
    }

    @Test func `a restore takes another name than what a killed one has set aside`() async throws {
        try await Self.die(scratch)
        try Self.move(scratch, [("data", "@0/replaced-1")])
        // Another program wrote between the two starts.
        try scratch.write("other", to: "data")
        let copies = scratch.state.snapshot + "/0"
        var path = PathRestore(of: scratch.file("data"), from: copies, keepingReplaced: false) { _, _ in }
        try path.run()
        #expect(try scratch.read("data") == "old\n")
        #expect(try scratch.read(copies + "/replaced-1") == "old\nnew\n")
        #expect(try scratch.read(copies + "/replaced-2") == "other")
    }
}

import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import Testing

@testable import SModelStart

/// A file in the sources, in whose folder records are written; tests run in their package's folder.
private let samplePath = FileManager.default.currentDirectoryPath + "/Fixtures/Notes/NotesSchemaTests.swift"

// Also import your app, for example: @testable import Notes

private let releases =
    NSString(string: samplePath).deletingLastPathComponent
    + "/Releases"

@Suite(.serialized) struct NotesSchemaTests {
    @Test func `every released schema gets to the newest`() throws {
        let rehearsal = try SQLRehearsal(
            of: notesMigrator(),
            releasesIn: releases,
            ignoring: ["_sModel_DBDefTracker"]
        )
        let environment = ProcessInfo.processInfo.environment
        if let release = environment["RECORD_RELEASE"] {
            try rehearsal.record(release) {
                try SQLiteConnection(path: ":memory:")
            }
        }
        let report = try rehearsal.run(
            opening: { try SQLiteConnection(path: ":memory:") },
            preparing: { db in
                try continueFromSModel(db, notesMigrator())
            }
        )
        try report.requireClean()
    }

    @Test func `the rows of 1_0 get their changes once`() throws {
        let path = NSTemporaryDirectory() + "\(UUID()).sqlite"
        let old = try SQLiteConnection(path: path)
        let record = URL(filePath: releases + "/1.0.sql")
        try old.execute(
            script: String(contentsOf: record, encoding: .utf8)
        )
        old.close()
        // The second start changes nothing.
        for _ in 1...2 {
            let db = try openNotes(at: path)
            let rows = try db.query("SELECT title, stars FROM note")
            #expect(rows == [["one", 10]])
            db.close()
        }
    }
}

@Suite struct ComingFrom {
    static let table = """
        CREATE TABLE "_sModel_DBDefTracker" (
            "namespace" TEXT PRIMARY KEY, "version" INTEGER,
            "lastUpdated" REAL, lastHash TEXT
        );
        PRAGMA user_version = 1002;
        """
    static let row = #"INSERT INTO "_sModel_DBDefTracker" VALUES ('', "#

    /// The first texts of sModel, run on a note with 5 stars after the first text.
    static func ran(_ count: Int) -> String {
        ([textsOfSModel[0], "INSERT INTO note (title, stars) VALUES ('one', 5)"] + textsOfSModel[1..<count])
            .joined(separator: ";") + ";"
    }

    /// What sModel, a crash of it, or a log-out left.
    ///
    /// A text that created something would fail if it ran again, and the other one would double the stars.
    @Test func `each database of sModel goes on where it was, and sModel would run nothing again`()
        async throws
    {
        let databases = [
            "",
            "\(Self.ran(1)) PRAGMA user_version = 1",
            "\(Self.ran(3)) PRAGMA user_version = 3",
            "\(Self.ran(1)) \(Self.table) \(Self.row) 1, 0, 'hash')",
            "\(Self.ran(3)) \(Self.table) \(Self.row) 3, 0, 'hash')",
            // It crashed before it saved its number.
            "\(Self.ran(3)) \(Self.table) \(Self.row) 1, 0, 'hash')",
            "\(Self.ran(3)) \(Self.table)",
            // Text 3 failed in a release with this library.
            "\(Self.ran(2)) \(Self.table) \(Self.row) 2, 0, '')",
        ]
        for (number, left) in databases.enumerated() {
            try await withFolder { folder async throws in
                let path = "\(folder)/notes \(number).sqlite"
                let before = try SQLiteConnection(path: path)
                if !left.isEmpty { try before.execute(script: left) }
                before.close()
                for table in ["", "schema_migrations", "_sModel_DBDefTracker", "both"] {
                    // The app emptied a table, or both.
                    let emptied = try SQLiteConnection(path: path)
                    for name in ["schema_migrations", "_sModel_DBDefTracker"] {
                        if ![name, "both"].contains(table) { continue }
                        let columns = try emptied.query("PRAGMA table_info(\(name))")
                        if !columns.isEmpty { try emptied.query("DELETE FROM \(name)") }
                    }
                    emptied.close()
                    let db = try openNotes(at: path)
                    #expect(try notesMigrator().status(db).applied == [1, 2, 3, 4])
                    #expect(try SModelTracker().version(in: db) == 3)
                    #expect(try db.query("SELECT stars FROM note") == (left.isEmpty ? [] : [[10]]), "\(left)")
                    db.close()
                }
            }
        }
    }

    @Test func `after a log-out, neither sModel nor the migrator runs anything again`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            let made = try SQLiteConnection(path: path)
            try made.execute(script: "\(Self.ran(3)) \(Self.table) \(Self.row) 3, 0, 'hash')")
            made.close()
            let db = try openNotes(at: path)
            try deleteAllNotes(in: db)
            #expect(try db.query("SELECT * FROM note").isEmpty)
            #expect(try SModelTracker().version(in: db) == 3)
            #expect(try notesMigrator().status(db).applied == [1, 2, 3, 4])
            db.close()
        }
    }

    @Test func `a newer release and a beta are left alone, and a damaged file is renamed`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            let db = try openNotes(at: path)
            let newer = SQLiteMigration(version: 5, sql: "CREATE TABLE newer(x)")
            try SQLiteMigrator(SModelTracker().migrations(textsOfSModel) + [newer]).migrate(db)
            db.close()
            #expect(throws: NewerNotes.self) { try openNotes(at: path) }
            let beta = try SQLiteConnection(path: folder + "/beta.sqlite")
            try beta.execute(script: "\(Self.ran(3)) PRAGMA user_version = 4")
            beta.close()
            #expect(throws: NewerNotes.self) { try openNotes(at: folder + "/beta.sqlite") }
            var random = SystemRandomNumberGenerator()
            let noise = Data((0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) })
            for bytes in [Data("This is no database, whatever its name says.".utf8), noise] {
                let damaged = folder + "/damaged \(bytes.count).sqlite"
                try bytes.write(to: URL(filePath: damaged))
                try openNotes(at: damaged).close()
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(names.contains { $0.hasPrefix("damaged \(bytes.count).sqlite-corrupt-") })
            }
        }
    }
}

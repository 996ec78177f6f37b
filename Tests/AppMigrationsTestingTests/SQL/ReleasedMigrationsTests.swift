import AppMigrations
import AppMigrationsSQLite
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

/// The record of released migrations, held against those of the app.
@Suite(.temporaryDirectory) struct ReleasedMigrationsTests {
    let folder = TemporaryDirectory.current.path
    let recorded = ReleasedMigrations(file: TemporaryDirectory.current.file("migrations.lock"))

    private let released = [
        SQLiteMigration(version: 2, name: "two words", sql: "CREATE TABLE a(x)"),
        SQLiteMigration(version: 4, sql: "CREATE TABLE b(x)"),
        SQLiteMigration(version: 6, name: "code") { _, _ in },
    ]

    private let lines = """
        # Released SQL migrations: version, checksum, name. Commit this file. Don't edit a migration that is listed.
        2 fnv1a:c8e284113dab7df5 two words
        4 fnv1a:26918608e579403e
        6 - code

        """

    @Test func `the file has a line for each, and later ones are added below`() throws {
        try recorded.record(SQLiteMigrator(released))
        #expect(try read("migrations.lock", in: folder) == lines)
        #expect(try recorded.findings(in: SQLiteMigrator(released)).isEmpty)
        try write(lines.dropLast() + "\n# from here on by hand", to: "migrations.lock", in: folder)
        let next = try SQLiteMigrator(released + [SQLiteMigration(version: 7, name: "next") { _, _ in }])
        #expect(try recorded.findings(in: next).isEmpty)
        try recorded.record(next)
        try recorded.record(next)
        #expect(try read("migrations.lock", in: folder) == lines + "# from here on by hand\n7 - next\n")
    }

    @Test func `an edited migration, one that is gone and one below them are findings`() throws {
        try recorded.record(SQLiteMigrator(released))
        let migrations = [
            SQLiteMigration(version: 1, sql: "CREATE TABLE early(x)"),
            SQLiteMigration(version: 2, name: "two words", sql: "CREATE TABLE a(x, y)"),
            SQLiteMigration(version: 4) { _, _ in }, SQLiteMigration(version: 9, sql: "SELECT 1"),
        ]
        let findings = try recorded.findings(in: SQLiteMigrator(migrations))
        #expect(findings.map(\.kind) == [.changed, .changed, .disappeared, .missed])
        #expect(findings.map(\.version) == ["2", "4", "6", "1"])
        #expect(
            findings.map(\.description) == [
                "Migration 2 (two words) was edited after its release. Databases that already ran it won't get the "
                    + "change. Restore the released text, and put the change in a new migration.",
                "Migration 4 was edited after its release. Databases that already ran it won't get the "
                    + "change. Restore the released text, and put the change in a new migration.",
                "Migration 6 (code) was released, and is missing now. New databases would lack what it creates. "
                    + "Restore it.",
                "Migration 1 is new, but 6 is already released. Existing databases would run it after 6, "
                    + "and new databases before 6. Give it a version above 9.",
            ]
        )
        let error = #expect(throws: RehearsalFinding.self) { try recorded.record(SQLiteMigrator(migrations)) }
        #expect(error?.kind == .changed)
        #expect(error?.localizedDescription == findings[0].description)
        #expect(try read("migrations.lock", in: folder) == lines)
    }

    @Test func `line ends of another checkout are no edit, in the record neither`() throws {
        let text = "CREATE TABLE a(\nx)\n"
        try recorded.record(SQLiteMigrator([SQLiteMigration(version: 1, sql: text)]))
        let other = SQLiteMigration(version: 1, sql: text.replacing("\n", with: "\r\n"))
        try write(
            read("migrations.lock", in: folder).replacing("\n", with: "\r\n"),
            to: "migrations.lock",
            in: folder
        )
        #expect(try recorded.findings(in: SQLiteMigrator([other])).isEmpty)
    }

    @Test func `a file that got another number is named with the way back`() throws {
        try write("CREATE TABLE a(x)", to: "3_a.sql", in: folder)
        try write("CREATE TABLE b(x)", to: "5_b.sql", in: folder)
        try recorded.record(SQLiteMigrator(SQLiteMigration.files(in: folder)))
        try FileManager.default.moveItem(atPath: folder + "/3_a.sql", toPath: folder + "/4_a.sql")
        let findings = try recorded.findings(in: SQLiteMigrator(SQLiteMigration.files(in: folder)))
        #expect(
            findings.map(\.description) == [
                "Migration 3 (a) was released, and is missing now. \(folder)/4_a.sql has the same SQL. "
                    + "Databases that ran it as 3 would run it again. Change its version back to 3.",
                "\(folder)/4_a.sql is new, but 5 is already released. Existing databases would run it after 5, "
                    + "and new databases before 5. Give it a version above 5.",
            ]
        )
    }

    @Test func `a missing file and a line that can't be read are findings`() throws {
        try recorded.record(SQLiteMigrator(released))
        let missing = ReleasedMigrations(file: folder + "/none")
        #expect(
            try missing.findings(in: SQLiteMigrator(released)).map(\.description) == [
                "There is no lock file \(folder)/none, so it is unknown which migrations were released. Record them."
            ]
        )
        for line in ["<<<<<<< ours", "7", "seven fnv1a:0 name", "7 name"] {
            try write(lines + line + "\n", to: "migrations.lock", in: folder)
            let findings = try recorded.findings(in: SQLiteMigrator(released))
            #expect(findings.map(\.kind) == [.unreadableLock])
            #expect(
                findings.first?.description
                    == "Line 5 of \(folder)/migrations.lock can't be read: \(line). It should be a version, a checksum "
                    + "and a name."
            )
            #expect(throws: RehearsalFinding.self) { try recorded.record(SQLiteMigrator(released)) }
        }
    }

    @Test func `a migration whose file can't be read is an error`() throws {
        try write("CREATE TABLE a(x)", to: "1.sql", in: folder)
        let migrator = try SQLiteMigrator(SQLiteMigration.files(in: folder))
        try recorded.record(migrator)
        try FileManager.default.removeItem(atPath: folder + "/1.sql")
        #expect(throws: SQLError.self) { try recorded.findings(in: migrator) }
    }

    @Test func `a closure whose number an SQL text took is a finding`() throws {
        try recorded.record(SQLiteMigrator(released))
        let taken = released.prefix(2) + [SQLiteMigration(version: 6, sql: "CREATE TABLE c(x)")]
        #expect(try recorded.findings(in: SQLiteMigrator(Array(taken))).map(\.kind) == [.changed])
    }

    @Test func `a name of several lines is one line`() throws {
        let migrator = try SQLiteMigrator([
            SQLiteMigration(version: 1, name: "one\n2 - two\r\n", sql: "SELECT 1")
        ])
        try recorded.record(migrator)
        #expect(try recorded.findings(in: migrator).isEmpty)
        #expect(try read("migrations.lock", in: folder).hasSuffix(" one 2 - two\n"))
    }
}

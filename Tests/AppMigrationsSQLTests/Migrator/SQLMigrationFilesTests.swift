import AppMigrationsSQLite
import Foundation
import Testing

@Suite(.temporaryDirectory) struct SQLMigrationFilesTests {
    let folder = TemporaryDirectory.current.path

    @Test(
        arguments: [
            ("1.sql", 1, nil), ("0.sql", 0, nil), ("007.sql", 7, nil), ("12345_name.sql", 12345, "name"),
            ("12345_This Is Also Valid.sql", 12345, "This Is Also Valid"), ("3_a-b.sql", 3, "a-b"),
            ("4__b.sql", 4, "_b"), ("5_Ünïcode 2.sql", 5, "Ünïcode 2"),
            ("999999999999999999_last.sql", 999_999_999_999_999_999, "last"),
        ] as [(String, Int64, String?)]
    )
    func `the names of FMDBMigrationManager are read`(file: String, version: Int64, name: String?) throws {
        try write("SELECT 1", to: folder + "/" + file)
        let migrations = try Migration.files(in: folder)
        #expect(migrations.map(\.version) == [version])
        #expect(migrations.map(\.name) == [name])
    }

    @Test(
        arguments: [
            "a1.sql", "12345_.sql", "12345dfsf.sql", "_1.sql", "1_name_.sql", "1_a.b.sql", "-1.sql", "1.SQL",
            "1 .sql", "１.sql", "1_a/../b.sql".replacing("/", with: ":"), "schema.sql",
        ]
    )
    func `another sql file is refused, not passed over`(file: String) throws {
        try write("SELECT 1", to: folder + "/1.sql")
        try write("SELECT 1", to: folder + "/" + file)
        let error = try sqlError { try Migration.files(in: folder) }
        #expect(error.code == .invalidFileName)
        #expect(error.path == "\(folder)/\(file)")
    }

    @Test func `a version of more than 18 digits is refused`() throws {
        try write("SELECT 1", to: folder + "/1000000000000000000_x.sql")
        let error = try sqlError { try Migration.files(in: folder) }
        #expect(error.code == .invalidVersion)
    }

    @Test func `other files, hidden files and folders are passed over`() throws {
        for name in ["2_b.sql", "10_c.sql", "1_a.sql", "README.md", ".DS_Store", "._1_a.sql", "1.sql~"] {
            try write("SELECT 1", to: folder + "/" + name)
        }
        try FileManager.default.createDirectory(atPath: folder + "/3", withIntermediateDirectories: false)
        #expect(try Migration.files(in: folder + "/").map(\.version) == [1, 2, 10])
    }

    @Test func `two names of one version are a duplicate before anything runs`() throws {
        try write("SELECT 1", to: folder + "/1.sql")
        try write("SELECT 1", to: folder + "/01.sql")
        let error = try sqlError { try Migrator(Migration.files(in: folder)) }
        #expect(error.code == .duplicateVersion)
        #expect(
            error.description
                == "Two migrations have the version 1: \(folder)/01.sql and \(folder)/1.sql."
                + " No migration was run. Give one of them another version."
        )
    }

    @Test func `a folder that is missing or empty is an error`() throws {
        let missing = try sqlError { try Migration.files(in: folder + "/none") }
        #expect(
            missing.description == "\(folder)/none: The folder can't be read: \(folder)/none:"
                + " No such file or directory (open, errno 2). No migration was run."
        )
        let empty = try sqlError { try Migration.files(in: folder) }
        #expect(empty.description == "\(folder): The folder has no .sql file. No migration was run.")
    }

    @Test(arguments: ["folder", "fifo", "link to a fifo"])
    func `what is no regular file is refused before the first one runs`(kind: String) throws {
        try write("CREATE TABLE a(x)", to: folder + "/1.sql")
        let path = folder + "/2.sql"
        switch kind {
        case "folder": try #require(mkdir(path, 0o700) == 0)
        case "fifo": try #require(mkfifo(path, 0o600) == 0)
        default:
            try #require(mkfifo(folder + "/fifo", 0o600) == 0)
            try #require(symlink("fifo", path) == 0)
        }
        let db = try memory()
        let error = try sqlError { try Migrator(Migration.files(in: folder)).migrate(db) }
        #expect(error.code == .fileFailure)
        #expect(error.version == 2)
        #expect(error.description == "Migration 2: \(path): It is not a regular file. No migration was run.")
        #expect(try tables(in: db).isEmpty)
    }

    @Test func `a file that is not UTF-8 is refused with the place, before the first one runs`() throws {
        try write("CREATE TABLE a(x)", to: folder + "/1.sql")
        let latin1 = Data("SELECT 1;\n-- é".utf8.map { $0 }) + Data([0xE9, 0x0A])
        try latin1.write(to: URL(filePath: folder + "/2_b.sql"))
        let db = try memory()
        let error = try sqlError { try Migrator(Migration.files(in: folder)).migrate(db) }
        #expect(
            error.description
                == "Migration 2 (b): \(folder)/2_b.sql:2:5: The file is not UTF-8 from here on."
                + " Save it as UTF-8. No migration was run."
        )
        #expect(try tables(in: db).isEmpty)
    }

    @Test func `of the files that were applied the newest alone is read again`() throws {
        try write("CREATE TABLE a(x)", to: folder + "/1.sql")
        try write("CREATE TABLE b(x)", to: folder + "/2.sql")
        let migrator = try Migrator(Migration.files(in: folder))
        let db = try memory()
        try migrator.migrate(db)
        try FileManager.default.removeItem(atPath: folder + "/1.sql")
        #expect(try migrator.migrate(db).applied == [])
        let error = try sqlError { try migrator.status(db) }
        #expect(error.code == .fileFailure)
    }
}

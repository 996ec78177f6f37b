import AppMigrations
import AppMigrationsTesting
import Foundation
import GRDB
import Testing

/// The release 1.4 of the server in *A server with GRDB*, which didn't use this library.
private struct Release14 {
    let site: Site

    func open() throws -> DatabasePool {
        let pool = try site.openPool()
        // It doesn't know the later migrations, and GRDB ignores that they have run.
        var migrator = DatabaseMigrator()
        migrator.registerMigration("posts") { db in
            try db.create(table: "post") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("title", .text).notNull()
                table.column("upload", .text)
            }
        }
        try migrator.migrate(pool)
        return pool
    }

    func addPost(_ title: String, _ upload: String) throws {
        try FileManager.default.createDirectory(atPath: site.uploads, withIntermediateDirectories: true)
        try Data(title.utf8).write(to: URL(filePath: site.uploads + "/" + upload))
        let pool = try open()
        try pool.write { db in
            try db.execute(sql: "INSERT INTO post (title, upload) VALUES (?, ?)", arguments: [title, upload])
        }
        try pool.close()
    }

    /// A release may keep the members that it doesn't know, here the quota of 1.5.
    func saveQuota(_ quotaMB: Int, keeping bytes: Int? = nil) throws {
        let other = bytes.map { #""quota":\#($0),"# } ?? ""
        try Data(#"{\#(other)"quotaMB":\#(quotaMB)}"#.utf8).write(
            to: URL(filePath: site.settings),
            options: .atomic
        )
    }
}

extension Site {
    func addPost(_ title: String, _ upload: String, _ pool: DatabasePool) throws {
        let parent = uploads + "/" + upload.prefix(2)
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(title.utf8).write(to: URL(filePath: parent + "/" + upload))
        try pool.write { db in
            try db.execute(
                sql: "INSERT INTO post (title, upload, slug) VALUES (?, ?, lower(replace(?, ' ', '-')))",
                arguments: [title, upload.prefix(2) + "/" + upload, title]
            )
        }
    }

    func saveQuota(of bytes: Int) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try encoder.encode(Settings(quotaMB: bytes >> 20, quota: bytes)).write(to: URL(filePath: settings))
    }
}

/// The file of the page *A server with GRDB*, in each of the situations that its table names.
@Suite struct ServerWithGRDBTests {
    private let site: Site
    private let release14: Release14

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        site = Site(folder: url.path(percentEncoded: false))
        release14 = Release14(site: site)
    }

    /// The posts, each with its upload's path and contents; a missing upload fails the test.
    private func posts() throws -> [String] {
        let pool = try site.openPool()
        let rows = try pool.read { try Row.fetchAll($0, sql: "SELECT * FROM post ORDER BY id") }
        try pool.close()
        return try rows.map { row in
            let upload: String = row["upload"]
            let text = try String(contentsOfFile: site.uploads + "/" + upload, encoding: .utf8)
            return "\(row["slug"] as String? ?? "-") \(upload) \(text)"
        }
    }

    private func start() throws { try site.start { _ in }.close() }

    private func quota() throws -> Int? {
        try JSONDecoder().decode(Site.Settings.self, from: Data(contentsOf: URL(filePath: site.settings)))
            .quota
    }

    private func shipData() throws {
        try release14.addPost("Hello World", "cat.jpg")
        try release14.addPost("Bye", "dog.jpg")
        try release14.saveQuota(20)
    }

    private func removeDatabase() throws {
        for end in ["", "-wal", "-shm"] where site.exists(site.database + end) {
            try FileManager.default.removeItem(atPath: site.database + end)
        }
    }

    private func history() throws -> [String] {
        try site.manager(isReadOnly: true).status.history.map(\.version.description)
    }

    private let migrated = ["hello-world ca/cat.jpg Hello World", "bye do/dog.jpg Bye"]

    @Test func `a new site runs no closure, and has all tables`() throws {
        for _ in 1...2 { try start() }
        #expect(try posts() == [])
        #expect(try history() == [])
        #expect(try site.readiness() == .ready)
    }

    @Test func `data of 1.4 is migrated once, with its uploads and settings`() throws {
        try shipData()
        for _ in 1...2 {
            try start()
            #expect(try posts() == migrated)
            #expect(try quota() == 20 << 20)
            #expect(try history() == ["1.5"])
            #expect(try FileManager.default.subpathsOfDirectory(atPath: site.uploads).count == 4)
        }
    }

    /// A trigger that refuses the update of the posts ends the closure at the place where a kill leaves both paths.
    @Test func `after an end between files and rows, 1.4 finds its uploads, and its own are converted`()
        throws
    {
        try shipData()
        let pool = try release14.open()
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER full BEFORE UPDATE OF upload ON post
                    BEGIN SELECT RAISE(ABORT, 'disk full'); END
                    """
            )
        }
        try pool.close()
        #expect(throws: MigrationError.self) { try start() }
        #expect(site.exists(site.uploads + "/ca/cat.jpg"))
        #expect(try history() == [])
        // The posts already have their slugs, and 1.4 reads the uploads at their old paths.
        #expect(try posts() == ["hello-world cat.jpg Hello World", "bye dog.jpg Bye"])
        try release14.addPost("From old", "eel.jpg")
        try release14.saveQuota(30)
        let again = try release14.open()
        try again.write { try $0.execute(sql: "DROP TRIGGER full") }
        try again.close()
        try start()
        #expect(try posts() == migrated + ["from-old ee/eel.jpg From old"])
        #expect(try quota() == 30 << 20)
        #expect(try site.names(in: site.uploads).sorted() == ["ca", "do", "ee"])
    }

    @Test(arguments: [nil, 20 << 20])
    func `posts, uploads and settings that 1.4 writes after a rollback are converted`(keptQuota: Int?) throws
    {
        try shipData()
        try start()
        #expect(try posts() == migrated)
        try release14.addPost("From old", "eel.jpg")
        try release14.saveQuota(30, keeping: keptQuota)
        try start()
        #expect(try posts() == migrated + ["from-old ee/eel.jpg From old"])
        #expect(try quota() == 30 << 20)
        #expect(try history() == ["1.5"])
    }

    @Test func `a database that was restored alone fits the uploads that were moved before`() throws {
        try shipData()
        let backup = try Data(contentsOf: URL(filePath: site.database))
        try start()
        try removeDatabase()
        try backup.write(to: URL(filePath: site.database))
        try start()
        #expect(try posts() == migrated)
    }

    @Test(arguments: [false, true])
    func `a backup of 1.4 is migrated, in place of the folder or unpacked over it`(isUnpackedOver: Bool)
        throws
    {
        try shipData()
        let backup = site.folder + ".backup"
        try FileManager.default.copyItem(atPath: site.folder, toPath: backup)
        try start()
        try removeDatabase()
        if isUnpackedOver {
            for path in ["/site.sqlite", "/settings.json", "/uploads/cat.jpg", "/uploads/dog.jpg"] {
                if site.exists(site.folder + path) {
                    try FileManager.default.removeItem(atPath: site.folder + path)
                }
                try FileManager.default.copyItem(atPath: backup + path, toPath: site.folder + path)
            }
        } else {
            try FileManager.default.removeItem(atPath: site.folder)
            try FileManager.default.copyItem(atPath: backup, toPath: site.folder)
        }
        try start()
        #expect(try posts() == migrated)
        #expect(try quota() == 20 << 20)
        #expect(try site.names(in: site.uploads).sorted() == ["ca", "do"])
    }

    @Test func `an upload that differs at both paths stops the start, and both stay`() throws {
        try shipData()
        try start()
        try Data("other".utf8).write(to: URL(filePath: site.uploads + "/cat.jpg"))
        let error = #expect(throws: SiteError.self) { try start() }
        #expect(error?.description.contains("differ. Remove one of them.") == true)
        #expect(try posts() == migrated)
        #expect(site.exists(site.uploads + "/cat.jpg"))
    }

    @Test(arguments: [false, true])
    func `a missing database stops the start, and no new one is created`(hasMigrated: Bool) throws {
        try shipData()
        if hasMigrated {
            try start()
            try FileManager.default.removeItem(atPath: site.uploads)
        }
        let backup = try Data(contentsOf: URL(filePath: site.database))
        try removeDatabase()
        for _ in 1...2 {
            let error = #expect(throws: (any Error).self) { try start() }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("\(site.database) is missing. Restore it."), "\(text)")
            #expect(!site.exists(site.database))
        }
        #expect(site.exists(site.state + "/Site.migrations.json") == hasMigrated)
        if hasMigrated { return }
        // No state was created, so 1.5 runs as soon as the database is back.
        try backup.write(to: URL(filePath: site.database))
        try start()
        #expect(try posts() == migrated)
        #expect(try history() == ["1.5"])
    }

    @Test func `a new site whose first start was killed before it created the database begins anew`() throws {
        _ = try site.manager()
        try start()
        #expect(try site.readiness() == .ready)
    }

    @Test func `eight starts at the same moment migrate once`() async throws {
        try shipData()
        try await withThrowingTaskGroup { group in
            for _ in 1...8 {
                group.addTask { try start() }
            }
            try await group.waitForAll()
        }
        #expect(try posts() == migrated)
        #expect(try history() == ["1.5"])
    }

    @Test func `a database that a newer release has migrated is refused`() throws {
        try start()
        let pool = try site.openPool()
        try pool.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of a newer release')") }
        try pool.close()
        #expect(throws: SiteError.self) { try start() }
        #expect(try site.readiness() == .updateTool)
        #expect(throws: SiteError.self) { try site.write { _ in Issue.record("It was called.") } }
    }

    @Test func `a newer release shuts this one out`() throws {
        try start()
        let newer = Site(folder: site.folder, version: "1.6")
        try newer.manager().whenMigrating(toVersion: "1.6", minimumAppVersion: "1.6") {}
        let error = #expect(throws: MigrationError.self) { try start() }
        #expect(error?.code == .usedByNewerApp)
        #expect(try site.readiness() == .updateTool)
    }

    @Test func `the tool writes only to migrated data`() throws {
        try shipData()
        #expect(try site.readiness() == .startServer)
        #expect(throws: SiteError.self) { try site.write { _ in Issue.record("It was called.") } }
        #expect(!site.exists(site.state))
        try start()
        try site.write { pool in try site.addPost("By hand", "fox.jpg", pool) }
        #expect(try posts() == migrated + ["by-hand fo/fox.jpg By hand"])
    }

    @Test func `a reset and a forgotten state run the closure again, and it does no harm`() throws {
        try shipData()
        try start()
        try site.reset(to: "1.4")
        #expect(try site.readiness() == .startServer)
        try start()
        let first = try site.forgetState()
        #expect(first != nil)
        #expect(try site.forgetState() == nil)
        #expect(try site.readiness() == .startServer)
        try start()
        #expect(try posts() == migrated)
        #expect(try history() == ["1.5"])
        #expect(try site.readiness() == .ready)
    }

    @Test func `a rehearsal of data of 1.3 and 1.4 is clean`() throws {
        let fixtures = site.folder + "/fixtures"
        for version in ["1.3", "1.4"] {
            let folder = fixtures + "/" + version
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let old = Release14(site: Site(folder: folder))
            try old.addPost("Hello World", "cat.jpg")
            try old.saveQuota(20)
        }
        let report = try rehearse(fixtures: fixtures)
        try report.requireClean()
        let titles = Set(report.runs.map(\.title))
        #expect(titles.isSuperset(of: ["asked firstRun", "killed after synchronize 1 of 1.5"]))
        #expect(!titles.contains("step by step"))
    }
}

import AppMigrations
import AppMigrationsTesting
import Foundation
import GRDB
import Testing

@testable import SiteServer

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

    func addPost(_ title: String, _ upload: String? = nil) throws {
        if let upload {
            try FileManager.default.createDirectory(atPath: site.uploads, withIntermediateDirectories: true)
            try Data(title.utf8).write(to: URL(filePath: site.uploads + "/" + upload))
        }
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
        let folder = "by-name/" + upload.prefix(2)
        let parent = uploads + "/" + folder
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(title.utf8).write(to: URL(filePath: parent + "/" + upload))
        try pool.write { db in
            try db.execute(
                sql: """
                    INSERT INTO post (title, upload, slug, bytes)
                    VALUES (?, ?, lower(replace(?, ' ', '-')), ?)
                    """,
                arguments: [title, folder + "/" + upload, title, title.utf8.count]
            )
        }
    }

    func saveQuota(of bytes: Int) throws {
        try Data(#"{"quota":\#(bytes),"quotaMB":\#(bytes >> 20)}"#.utf8).write(to: URL(filePath: settings))
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
        let data = try Data(contentsOf: URL(filePath: site.settings))
        return try JSONDecoder().decode([String: Int].self, from: data)["quota"]
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

    private let migrated = [
        "hello-world by-name/ca/cat.jpg Hello World", "bye by-name/do/dog.jpg Bye",
    ]

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
            #expect(try FileManager.default.subpathsOfDirectory(atPath: site.uploads).count == 5)
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
        #expect(site.exists(site.uploads + "/by-name/ca/cat.jpg"))
        #expect(try history() == [])
        // The posts already have their slugs, and 1.4 reads the uploads at their old paths.
        #expect(try posts() == ["hello-world cat.jpg Hello World", "bye dog.jpg Bye"])
        try release14.addPost("From old", "eel.jpg")
        try release14.saveQuota(30)
        let again = try release14.open()
        try again.write { try $0.execute(sql: "DROP TRIGGER full") }
        try again.close()
        try start()
        #expect(try posts() == migrated + ["from-old by-name/ee/eel.jpg From old"])
        #expect(try quota() == 30 << 20)
        #expect(try site.names(in: site.uploads) == ["by-name"])
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
        #expect(try posts() == migrated + ["from-old by-name/ee/eel.jpg From old"])
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

    @Test func `uploads that were restored alone get the paths that posts name`() throws {
        try release14.addPost("First", "cat.jpg")
        try start()
        try release14.addPost("Second", "cat.jpg")
        try FileManager.default.copyItem(atPath: site.uploads + "/cat.jpg", toPath: site.folder + "/backup")
        try start()
        let pool = try site.openPool()
        try pool.write { try $0.execute(sql: "DELETE FROM post WHERE title = 'First'") }
        try pool.close()
        // The name alone would give the path by-name/ca/cat.jpg, which no post names.
        try FileManager.default.removeItem(atPath: site.uploads + "/by-name")
        try FileManager.default.moveItem(atPath: site.folder + "/backup", toPath: site.uploads + "/cat.jpg")
        for _ in 1...2 {
            try start()
            #expect(try posts() == ["second by-name/ca-1/cat.jpg Second"])
        }
        #expect(try site.names(in: site.uploads) == ["by-name"])
    }

    @Test func `a new upload doesn't take the place of a lost one of the same name`() throws {
        try shipData()
        try start()
        try FileManager.default.removeItem(atPath: site.uploads + "/by-name/do/dog.jpg")
        try release14.addPost("Other", "dog.jpg")
        try start()
        let uploads = try site.openPool().read { db in
            try String.fetchAll(db, sql: "SELECT upload FROM post WHERE title <> 'Hello World' ORDER BY id")
        }
        #expect(uploads == ["by-name/do/dog.jpg", "by-name/do-1/dog.jpg"])
    }

    @Test func `uploads that are missing stop the start, and nothing is ready`() throws {
        try shipData()
        for _ in 1...2 {
            try FileManager.default.moveItem(atPath: site.uploads, toPath: site.folder + "/elsewhere")
            let error = #expect(throws: (any Error).self) { try start() }
            #expect(error.map { "\($0)" }?.contains("\(site.uploads) is missing or empty.") == true)
            #expect(try site.readiness() == .needsMigration)
            try FileManager.default.moveItem(atPath: site.folder + "/elsewhere", toPath: site.uploads)
            try start()
            #expect(try posts() == migrated)
            #expect(try site.readiness() == .ready)
        }
    }

    @Test func `a migration of tables that needs the moved files runs after them`() throws {
        try shipData()
        try start()
        try release14.addPost("From old", "eel.jpg")
        try start()
        let sizes = try site.openPool().read {
            try Int.fetchAll($0, sql: "SELECT bytes FROM post ORDER BY id")
        }
        #expect(sizes == [11, 3, 8])
    }

    @Test func `a tool waits while a process migrates`() throws {
        try shipData()
        let manager = try site.manager()
        var readiness: [MigrationManager.Readiness] = []
        try manager.whenMigrating(toVersion: "1.5") { readiness.append(try site.readiness()) }
        #expect(readiness == [.isMigrating])
    }

    @Test func `root writes nothing to another user's folder`() throws {
        guard geteuid() == 0 else { return }
        try shipData()
        chown(site.folder, 1_000, 1_000)
        let error = #expect(throws: SiteError.self) { try start() }
        #expect(error?.description == "Start as the user who owns \(site.folder).")
        #expect(!site.exists(site.state))
        #expect(try site.readiness() == .needsMigration)
        for change in [{ try site.reset(to: "1.4") }, { _ = try site.forgetState() }] {
            #expect(throws: SiteError.self, performing: change)
        }
        chown(site.folder, 0, 0)
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
        #expect(try site.names(in: site.uploads) == ["by-name"])
    }

    /// SQL counts code points, and Swift counts the characters that a reader sees.
    @Test(arguments: ["\u{E9}a.jpg", "e\u{301}b.jpg", "👩‍👩‍👧x.png", "\u{301}c.jpg", "a", "ab", "x.jpg"])
    func `a post names the path of its upload, whatever characters the name has`(name: String) throws {
        try release14.addPost("One", name)
        // For Swift, both names are equal. For the file system, they aren't.
        try release14.addPost("Two", "e\u{301}.jpg")
        try release14.addPost("Three", "\u{E9}.jpg")
        for _ in 1...2 {
            try start()
            let posts = try posts()
            #expect(posts.map { $0.split(separator: " ").last } == ["One", "Two", "Three"])
            #expect(posts.allSatisfy { $0.contains(" by-name") })
        }
        #expect(try site.names(in: site.uploads) == ["by-name"])
    }

    /// A Unicode version decides which scalars are one character, and a file system may change the composition.
    @Test func `the new path doesn't depend on the Unicode version or on the composition`() {
        #expect(Array(site.newFolder(for: "👩\u{200D}👧x.png").utf8) == Array("by-name/👩\u{200D}".utf8))
        for name in ["\u{E9}b.jpg", "e\u{301}b.jpg"] {
            #expect(Array(site.newFolder(for: name).utf8) == Array("by-name/\u{E9}b".utf8))
        }
    }

    @Test func `uploads that 1.4 accepts after a rollback under a moved name get a free path`() throws {
        try shipData()
        try start()
        try release14.addPost("Second", "cat.jpg")
        try start()
        let second = migrated + ["second by-name/ca-1/cat.jpg Second"]
        #expect(try posts() == second)
        try release14.addPost("Third", "cat.jpg")
        try start()
        let third = second + ["third by-name/ca-2/cat.jpg Third"]
        #expect(try posts() == third)
        // An equal file gets its own path too, so that 1.4 can remove it without the second one.
        try release14.addPost("Second", "cat.jpg")
        for _ in 1...2 {
            try start()
            #expect(try posts() == third + ["second by-name/ca-3/cat.jpg Second"])
        }
        #expect(try site.names(in: site.uploads) == ["by-name"])
    }

    enum Intrusion: CaseIterable {
        case ofFile, ofPost
    }

    /// A trigger does between the links and the removals what 1.4 does if it wasn't stopped.
    @Test(arguments: Intrusion.allCases)
    func `an upload that 1.4 writes while it is moved isn't lost`(intrusion: Intrusion) throws {
        try release14.addPost("Hello", "cat.jpg")
        try start()
        try release14.addPost("Second", "cat.jpg")
        let upload = site.uploads + "/cat.jpg"
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            let function = DatabaseFunction("intrude", argumentCount: 0) { _ in
                if intrusion == .ofFile {
                    try Data("New".utf8).write(to: URL(filePath: upload), options: .atomic)
                }
                return nil
            }
            db.add(function: function)
        }
        let pool = try DatabasePool(path: site.database, configuration: configuration)
        try pool.write { db in
            let insertion =
                intrusion == .ofPost ? "INSERT INTO post (title, upload) VALUES ('Third', 'cat.jpg');" : ""
            try db.execute(
                sql: """
                    CREATE TEMP TRIGGER intrusion AFTER UPDATE OF upload ON main.post
                    BEGIN SELECT intrude(); \(insertion) END
                    """
            )
        }
        try site.moveUploads(pool, nil)
        #expect(site.exists(upload))
        try pool.close()
        try start()
        #expect(!site.exists(upload))
        let last = site.uploads + "/by-name/ca-2/cat.jpg"
        let text = try String(contentsOfFile: last, encoding: .utf8)
        #expect(text == (intrusion == .ofFile ? "New" : "Second"))
        let path = intrusion == .ofFile ? "by-name/ca-1/cat.jpg" : "by-name/ca-2/cat.jpg"
        #expect(try posts().last?.contains(path) == true)
    }

    /// The folder of such a name could be `..`, so it would be moved to itself, and removed.
    @Test func `an upload whose name begins with dots stays`() throws {
        try release14.addPost("One", "..jpg")
        for _ in 1...2 {
            try start()
            #expect(try posts() == ["one ..jpg One"])
        }
    }

    @Test func `a longest name that was moved before gets a free path`() throws {
        let name = String(repeating: "x", count: 251) + ".jpg"
        for title in ["One", "Two"] {
            try release14.addPost(title, name)
            try start()
        }
        #expect(
            try posts() == ["one by-name/xx/\(name) One", "two by-name/xx-1/\(name) Two"]
        )
    }

    @Test func `a post whose upload is missing stays as it is`() throws {
        try shipData()
        try FileManager.default.removeItem(atPath: site.uploads + "/dog.jpg")
        try release14.addPost("None")
        let pool = try release14.open()
        try pool.write { try $0.execute(sql: "INSERT INTO post (title, upload) VALUES ('Empty', '')") }
        try pool.close()
        try start()
        let uploads = try site.openPool().read { db in
            try String?.fetchAll(db, sql: "SELECT upload FROM post ORDER BY id")
        }
        #expect(uploads == ["by-name/ca/cat.jpg", "dog.jpg", nil, ""])
    }

    enum Loss: CaseIterable {
        case ofFile, ofContents
    }

    private func lose(_ loss: Loss) throws {
        try removeDatabase()
        if loss == .ofContents { try Data().write(to: URL(filePath: site.database)) }
    }

    private func expectMissingDatabase() throws {
        for _ in 1...2 {
            let error = #expect(throws: (any Error).self) { try start() }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("\(site.database) is missing or empty. Restore it."), "\(text)")
            if site.exists(site.database) {
                #expect(try Data(contentsOf: URL(filePath: site.database)).isEmpty)
            }
        }
    }

    @Test(arguments: Loss.allCases)
    func `a lost database next to uploads of 1.4 stops the start, and none is created`(loss: Loss) throws {
        try shipData()
        let backup = try Data(contentsOf: URL(filePath: site.database))
        try lose(loss)
        try expectMissingDatabase()
        // No state was created, so 1.5 runs as soon as the database is back.
        #expect(!site.exists(site.state + "/Site.migrations.json"))
        try removeDatabase()
        try backup.write(to: URL(filePath: site.database))
        try start()
        #expect(try posts() == migrated)
        #expect(try history() == ["1.5"])
    }

    /// Neither the state nor an upload shows that it had data.
    @Test(arguments: Loss.allCases)
    func `a lost database of a site without uploads that began with 1.5 stops the start`(loss: Loss) throws {
        try start()
        let pool = try site.openPool()
        try pool.write { try $0.execute(sql: "INSERT INTO post (title) VALUES ('One')") }
        try pool.close()
        #expect(try history() == [])
        #expect(!site.exists(site.uploads))
        try lose(loss)
        try expectMissingDatabase()
        #expect(try site.readiness() == .needsMigration)
        _ = try site.forgetState()
        try expectMissingDatabase()
    }

    @Test(arguments: Loss.allCases)
    func `a lost database of a migrated site whose uploads are lost too stops the start`(loss: Loss) throws {
        try shipData()
        try start()
        try FileManager.default.removeItem(atPath: site.uploads)
        try lose(loss)
        try expectMissingDatabase()
    }

    /// SQLite removes the log of an empty database when it opens it.
    @Test(arguments: Loss.allCases)
    func `a log next to a lost database stops the start, and stays`(loss: Loss) throws {
        try lose(loss)
        let log = Data("the last commits".utf8)
        try log.write(to: URL(filePath: site.database + "-wal"))
        try expectMissingDatabase()
        #expect(try Data(contentsOf: URL(filePath: site.database + "-wal")) == log)
    }

    /// A copy of the files in a transaction is what a kill leaves.
    @Test func `a transaction that was killed is undone`() throws {
        try release14.addPost("One", "cat.jpg")
        let old = site.folder + "/old.sqlite"
        try FileManager.default.moveItem(atPath: site.database, toPath: old)
        let queue = try DatabaseQueue(path: old)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE")
            for _ in 1...200 {
                try db.execute(sql: "INSERT INTO post (title) VALUES (hex(randomblob(2000)))")
            }
            try db.execute(sql: "UPDATE post SET title = 'Killed' WHERE id = 1")
            for end in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: old + end, toPath: site.database + end)
            }
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        try start()
        #expect(try posts() == ["one by-name/ca/cat.jpg One"])
    }

    /// A new file system has this folder.
    @Test func `a folder in the uploads doesn't make a new site an old one`() throws {
        try FileManager.default.createDirectory(
            atPath: site.uploads + "/lost+found",
            withIntermediateDirectories: true
        )
        try start()
        #expect(try site.readiness() == .ready)
        #expect(try site.names(in: site.uploads) == ["lost+found"])
    }

    @Test func `restored uploads without their database stop the start`() throws {
        try shipData()
        try start()
        try FileManager.default.removeItem(atPath: site.marker)
        try removeDatabase()
        try expectMissingDatabase()
    }

    @Test func `settings without a quota stay as they are`() throws {
        try shipData()
        try Data("{}".utf8).write(to: URL(filePath: site.settings))
        try start()
        #expect(try String(contentsOfFile: site.settings, encoding: .utf8) == "{}")
    }

    @Test func `members of the settings that this release doesn't know stay`() throws {
        try shipData()
        try Data(#"{"mail":{"host":"a/b","ports":[25,587]},"quotaMB":20}"#.utf8)
            .write(to: URL(filePath: site.settings))
        try start()
        #expect(
            try String(contentsOfFile: site.settings, encoding: .utf8)
                == #"{"mail":{"host":"a/b","ports":[25,587]},"quota":20971520,"quotaMB":20}"#
        )
    }

    @Test func `settings that aren't settings stop the start, and stay`() throws {
        try shipData()
        for text in ["[]", "{", #"{"quotaMB":"20"}"#, #"{"quotaMB":9000000000000000}"#] {
            try Data(text.utf8).write(to: URL(filePath: site.settings))
            let error = #expect(throws: (any Error).self) { try start() }
            #expect(error.map { "\($0)" }?.contains(site.settings) == true)
            #expect(try String(contentsOfFile: site.settings, encoding: .utf8) == text)
        }
    }

    @Test(arguments: ["nothing", "an empty file", "a log"])
    func `a new site whose first start was killed before it had tables begins anew`(left: String) throws {
        _ = try site.manager()
        if left == "an empty file" { try Data().write(to: URL(filePath: site.database)) }
        // An open pool's log stays next to its database.
        let pool = left == "a log" ? try site.openPool() : nil
        #expect(site.exists(site.database + "-wal") == (pool != nil))
        try start()
        try pool?.close()
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
        #expect(throws: SiteError.self) { try site.readiness() }
        #expect(throws: SiteError.self) { try site.write { _ in Issue.record("It was called.") } }
    }

    @Test func `a newer release shuts this one out`() throws {
        try start()
        let newer = Site(folder: site.folder, version: "1.6")
        try newer.manager().whenMigrating(toVersion: "1.6", minimumAppVersion: "1.6") {}
        let error = #expect(throws: MigrationError.self) { try start() }
        #expect(error?.code == .usedByNewerApp)
        #expect(try site.readiness() == .needsNewerApp(AppVersion(parsing: "1.6")))
        // So the page says not to forget the state after this error.
        _ = try site.forgetState()
        try start()
    }

    @Test func `the tool writes only to migrated data`() throws {
        try shipData()
        #expect(try site.readiness() == .needsMigration)
        #expect(throws: SiteError.self) { try site.write { _ in Issue.record("It was called.") } }
        #expect(!site.exists(site.state))
        try start()
        try site.write { pool in try site.addPost("By hand", "fox.jpg", pool) }
        #expect(try posts() == migrated + ["by-hand by-name/fo/fox.jpg By hand"])
    }

    @Test func `a reset and a forgotten state run the closure again, and it does no harm`() throws {
        try shipData()
        try start()
        try site.reset(to: "1.4")
        #expect(try site.readiness() == .needsMigration)
        try start()
        let first = try site.forgetState()
        #expect(first != nil)
        #expect(try site.forgetState() == nil)
        #expect(try site.readiness() == .needsMigration)
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
        #expect(titles.isSuperset(of: ["asked firstRun"]))
        // The new paths, the posts, the removed paths and the settings.
        #expect(titles.isSuperset(of: (1...4).map { "killed after synchronize \($0) of 1.5" }))
        #expect(!titles.contains("step by step"))
    }
}

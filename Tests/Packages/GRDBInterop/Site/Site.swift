import AppMigrations
import Foundation
import GRDB

struct SiteError: Error, CustomStringConvertible {
    let description: String
}

struct Site: Sendable {
    /// An absolute path.
    let folder: String
    var version = "1.5"

    var database: String { folder + "/site.sqlite" }
    var uploads: String { folder + "/uploads" }
    var settings: String { folder + "/settings.json" }
    /// It exists after the first start that succeeded.
    var marker: String { folder + "/has-database" }
    var state: String { folder + "/migrations" }

    /// Call it once at each start, before anything uses the data.
    func start(
        log: @escaping @Sendable (String) -> Void
    ) throws -> DatabasePool {
        try migrate(manager(log: log))
        return try openPool()
    }

    func manager(
        isReadOnly: Bool = false,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> MigrationManager {
        if !isReadOnly { try requireOwner() }
        return try MigrationManager(
            named: "Site",
            currentVersion: version,
            // Evaluated only if there is no state yet, and while
            // the manager holds the lock.
            firstRun: try firstRun(),
            stateDirectory: state,
            options: .init(
                lockTimeout: .seconds(60),
                isReadOnly: isReadOnly
            ) { event in log("\(event)") }
        )
    }

    func firstRun() throws -> MigrationManager.FirstRun {
        try requireDatabase()
        // The releases up to 1.4 didn't use this library.
        return try hasTables()
            ? .existingData(at: "1.4") : .freshInstall
    }

    /// The server, the admin tool and the rehearsal call it.
    func migrate(_ migrations: MigrationManager) throws {
        // Throws `usedByNewerApp` if a newer release excludes this
        // one with `minimumAppVersion:`.
        try migrations.withLock {
            try requireDatabase()
            // GRDB takes no lock for a migration, so this
            // library's lock is held.
            let pool = try openPool()
            try requireUploads(pool)
            try migrateRows(in: pool)
            try pool.close()
        }
        // Declare each new migration at the end.
        try migrations.whenMigrating(toVersion: "1.5") { context in
            try convertFiles(context)
        }
        // The closure runs once. But after a rollback, 1.4 has
        // added files or changed settings. Or an older database was
        // restored. So convert at each start.
        try migrations.withLock {
            try convertFiles()
            try finishRows()
            if exists(marker) { return }
            try Data().write(to: URL(filePath: marker))
        }
    }

    /// Refuses to start if GRDB would create an empty database in
    /// place of a lost one.
    func requireDatabase() throws {
        if try hasTables() { return }
        if try exists(marker) || hasUploads() || hasOnlyLog() {
            throw SiteError(
                description: "\(database) is missing or empty. "
                    + "Restore it. "
                    + "To begin anew, move \(folder) away."
            )
        }
    }

    /// Refuses to start if the disk with the uploads isn't mounted,
    /// or if they are lost.
    func requireUploads(_ pool: DatabasePool) throws {
        if try pool.read(lacksUploads) {
            throw SiteError(
                description: "\(uploads) is missing or empty. "
                    + "Mount it or restore it."
            )
        }
    }

    /// True if posts name uploads, and there are none.
    func lacksUploads(_ db: Database) throws -> Bool {
        guard try db.tableExists("post"), try !hasUploads() else {
            return false
        }
        let upload = Column("upload")
        // `names(in:)` lists no name that begins with a dot.
        let posts = Table("post")
            .filter(upload > "" && !upload.like(".%"))
        return try !posts.isEmpty(db)
    }

    /// Refuses to start as root in another user's folder: that user
    /// couldn't change root's new files.
    func requireOwner() throws {
        guard geteuid() == 0, exists(folder) else { return }
        let owner = try FileManager.default
            .attributesOfItem(atPath: folder)[.ownerAccountID]
        if owner as? Int != 0 {
            throw SiteError(
                description: "Start as the user who owns \(folder)."
            )
        }
    }

    /// False also for an empty file.
    ///
    /// SQLite treats it as a new database.
    func hasTables() throws -> Bool {
        guard try hasContents(database) else { return false }
        return try openQueue().read { db in
            try db.tableExists("grdb_migrations")
        }
    }

    /// True if the database is lost, but its last commits aren't.
    ///
    /// SQLite removes the log when it opens an empty database.
    func hasOnlyLog() throws -> Bool {
        try exists(database + "-wal") && !hasContents(database)
    }

    /// A new disk contains a folder `lost+found`, so other folders
    /// don't count.
    func hasUploads() throws -> Bool {
        try exists(uploads + "/by-name")
            || names(in: uploads).contains { name in
                try isFile(uploads + "/" + name)
            }
    }

    /// It is used only to read, but `readonly` isn't set.
    ///
    /// If a process was killed in a transaction, the next
    /// connection has to undo it, and a read-only connection throws instead.
    func openQueue() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(
            path: database,
            configuration: configuration
        )
    }

    func openPool() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        let pool = try DatabasePool(
            path: database,
            configuration: configuration
        )
        // GRDB sets `NORMAL` in WAL mode, with which a power
        // failure can undo the last commits.
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
        }
        return pool
    }

    // MARK: Rows

    /// All migrations of tables.
    func siteMigrator() -> DatabaseMigrator {
        var migrator = tableMigrator()
        // It reads each upload at its new path, so it runs after
        // the files were moved, also for a user who skips releases.
        migrator.registerMigration("sizes") { db in
            try db.alter(table: "post") { table in
                table.add(column: "bytes", .integer)
            }
            try measureUploads(db)
        }
        return migrator
    }

    /// The migrations that need no moved files.
    func tableMigrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("posts") { db in
            try db.create(table: "post") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("title", .text).notNull()
                table.column("upload", .text)
            }
        }
        // Since 1.5.
        migrator.registerMigration("slugs") { db in
            try db.alter(table: "post") { table in
                table.add(column: "slug", .text)
            }
            // `moveUploads` finds posts by their uploads.
            try db.create(indexOn: "post", columns: ["upload"])
        }
        return migrator
    }

    /// Throws if a newer release has migrated the database.
    ///
    /// `former` has the names of migrations that later releases
    /// have renamed or merged. They can stay in GRDB's table for
    /// ever, so never remove one.
    func requireKnownMigrations(_ db: Database) throws {
        let former: Set<String> = []
        let migrator = siteMigrator()
        let known = former.union(migrator.migrations)
        let applied = try migrator.appliedIdentifiers(db)
        if !applied.isSubset(of: known) {
            throw SiteError(
                description: "A newer release has migrated "
                    + "\(folder). Start that release."
            )
        }
    }

    /// Work that a query can find.
    ///
    /// It runs at each start.
    func migrateRows(in pool: DatabasePool) throws {
        try pool.read(requireKnownMigrations)
        try tableMigrator().migrate(pool)
        // 1.4 or an old backup has posts without a slug.
        try pool.write { db in
            try db.execute(
                sql: """
                    UPDATE post
                    SET slug = lower(replace(title, ' ', '-'))
                    WHERE slug IS NULL
                    """
            )
        }
    }

    /// Runs the migrations of tables that need the moved files.
    func finishRows() throws {
        let pool = try openPool()
        try siteMigrator().migrate(pool)
        // 1.4 or an old backup has posts without a size.
        try pool.write(measureUploads)
        try pool.close()
    }

    func measureUploads(_ db: Database) throws {
        let paths = try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT upload FROM post
                WHERE bytes IS NULL AND instr(upload, '/') > 0
                """
        )
        for path in paths where try isFile(uploads + "/" + path) {
            let attributes = try FileManager.default
                .attributesOfItem(atPath: uploads + "/" + path)
            try db.execute(
                sql: "UPDATE post SET bytes = ? WHERE upload = ?",
                arguments: [attributes[.size] as? Int, path]
            )
        }
    }

    // MARK: Files

    /// Converts the files of 1.4.
    ///
    /// It may run again at any time, also if only some of the files
    /// are converted. Only a closure has a context.
    func convertFiles(_ context: MigrationContext? = nil) throws {
        let pool = try openPool()
        try moveUploads(pool, context)
        try pool.close()
        try convertSettings(context)
    }

    /// Moves each upload and corrects its posts.
    ///
    /// While 1.4 is stopped, the path in each post is the path of a
    /// file.
    func moveUploads(
        _ pool: DatabasePool,
        _ context: MigrationContext?
    ) throws {
        let files = FileManager.default
        let namesInPosts = try pool.read(oldNames)
        let missing = try pool.read(foldersOfMissingUploads)
        var moved: [(name: String, path: String)] = []
        // A disk that ignores case can list `Cat.jpg`, while a post
        // has `cat.jpg`. So both names are moved. A name that is in
        // both lists can be moved twice.
        for name in try names(in: uploads) + namesInPosts
        where try isFile(uploads + "/" + name) {
            // The path comes from the post that names it, before
            // any guess.
            let named =
                try hasPost(name, pool)
                ? nil : missing[Array(name.utf8)]
            let folder = try named ?? freeFolder(for: name, pool)
            let path = folder + "/" + name
            if !exists(uploads + "/" + path) {
                try files.createDirectory(
                    atPath: uploads + "/" + folder,
                    withIntermediateDirectories: true
                )
                try files.linkItem(
                    atPath: uploads + "/" + name,
                    toPath: uploads + "/" + path
                )
            }
            moved.append((name, path))
        }
        let paths = moved.map { uploads + "/" + $0.path }
        try context?.synchronize(paths)
        try pool.write { db in
            for (name, path) in moved {
                try correctPosts(from: name, to: path, in: db)
            }
            // If an older database was restored, it has the old
            // names of uploads that were moved before.
            for name in namesInPosts
            where !exists(uploads + "/" + name) {
                let path = newFolder(for: name) + "/" + name
                if try isFile(uploads + "/" + path) {
                    try correctPosts(from: name, to: path, in: db)
                }
            }
        }
        try context?.synchronize(paths)
        // If 1.4 wasn't stopped, it can have replaced the file, or
        // used the name again. The next start moves such a file.
        for (name, path) in moved where isEqual(name, path) {
            if try hasPost(name, pool) { continue }
            try files.removeItem(atPath: uploads + "/" + name)
        }
        try context?.synchronize(paths)
    }

    /// The posts' names that have no path yet.
    ///
    /// As in `names(in:)`, no name begins with a dot: the folder of
    /// `..jpg` would be `..`.
    func oldNames(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT upload FROM post
                WHERE instr(upload, '/') = 0
                AND upload NOT LIKE '.%'
                """
        )
    }

    /// The folders of the uploads that posts name and that are
    /// missing, by the name of the upload.
    ///
    /// If only the uploads of 1.4 were restored, the posts still
    /// name the new paths.
    func foldersOfMissingUploads(
        _ db: Database
    ) throws -> [[UInt8]: String] {
        let paths = try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT upload FROM post
                WHERE instr(upload, '/') > 0 ORDER BY upload DESC
                """
        )
        var folders: [[UInt8]: String] = [:]
        for path in paths where !exists(uploads + "/" + path) {
            // A scalar after the slash can combine with it.
            let bytes = Array(path.utf8)
            let parts = bytes.split(separator: UInt8(ascii: "/"))
            guard let name = parts.last else { continue }
            let folder = bytes.dropLast(name.count + 1)
            folders[Array(name)] = String(
                decoding: folder,
                as: UTF8.self
            )
        }
        return folders
    }

    func hasPost(
        _ upload: String,
        _ pool: DatabasePool
    ) throws -> Bool {
        let posts = Table("post").filter(Column("upload") == upload)
        return try !pool.read { db in try posts.isEmpty(db) }
    }

    /// True for two hard links to a file, and for equal contents.
    func isEqual(_ name: String, _ path: String) -> Bool {
        FileManager.default.contentsEqual(
            atPath: uploads + "/" + name,
            andPath: uploads + "/" + path
        )
    }

    /// SQL doesn't compute the path, because its `substr` counts
    /// characters in another way than Swift.
    func correctPosts(
        from name: String,
        to path: String,
        in db: Database
    ) throws {
        try db.execute(
            sql: "UPDATE post SET upload = ? WHERE upload = ?",
            arguments: [path, name]
        )
    }

    /// The folder that an upload moves to, in `uploads`.
    ///
    /// A newer Unicode version can combine other scalars into one
    /// `Character`, so the path contains the first two scalars.
    func newFolder(for name: String, number: Int = 0) -> String {
        let composed = name.precomposedStringWithCanonicalMapping
        let start = String(composed.unicodeScalars.prefix(2))
        let folder = "by-name/" + start
        return number == 0 ? folder : "\(folder)-\(number)"
    }

    /// After a rollback, 1.4 can accept a name again that was moved
    /// before.
    ///
    /// Then the new file gets a folder with the next number.
    func freeFolder(
        for name: String,
        _ pool: DatabasePool
    ) throws -> String {
        var number = 0
        while true {
            let folder = newFolder(for: name, number: number)
            let path = folder + "/" + name
            // An equal file is this upload, which was moved before.
            // But if both paths have posts, they are two uploads:
            // 1.4 may remove one of them, and not the other.
            let isShared =
                try hasPost(name, pool)
                && hasPost(path, pool)
            let isFree = !exists(uploads + "/" + path)
            if !isShared, isFree || isEqual(name, path) {
                return folder
            }
            number += 1
        }
    }

    /// The releases up to 1.4 have only `quotaMB`, in MiB.
    ///
    /// `quota` is in bytes. A dictionary keeps all other keys.
    func convertSettings(_ context: MigrationContext?) throws {
        guard exists(settings) else { return }
        let file = URL(filePath: settings)
        let data = try Data(contentsOf: file)
        let json: Any
        do {
            json = try JSONSerialization.jsonObject(with: data)
        } catch {
            throw SiteError(description: "\(settings): \(error)")
        }
        guard var values = json as? [String: Any] else {
            throw SiteError(
                description: "\(settings) isn't a JSON object."
            )
        }
        guard let setting = values["quotaMB"] else { return }
        guard let quotaMB = setting as? Int,
            case (let bytes, false) =
                quotaMB
                .multipliedReportingOverflow(by: 1 << 20)
        else {
            throw SiteError(
                description: "quotaMB in \(settings) isn't a quota."
            )
        }
        // 1.5 always saves both. If they don't agree, 1.4 has
        // changed `quotaMB`.
        let quota = values["quota"] as? Int
        if quota.map({ $0 >> 20 }) == quotaMB { return }
        values["quota"] = bytes
        try saveSettings(
            JSONSerialization.data(
                withJSONObject: values,
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
        )
        try context?.synchronize([settings])
    }

    /// Saves the settings with the mode that the file has.
    ///
    /// On Linux, `.atomic` would make a private file readable for
    /// everybody. The new file gets its mode while it is empty.
    func saveSettings(_ data: Data) throws {
        let files = FileManager.default
        let mode = try files.attributesOfItem(atPath: settings)[
            .posixPermissions
        ]
        let new = settings + ".new"
        let isMade = files.createFile(
            atPath: new,
            contents: nil,
            attributes: [.posixPermissions: mode ?? 0o600]
        )
        guard isMade else {
            throw SiteError(description: "\(new) can't be made.")
        }
        try data.write(to: URL(filePath: new))
        // A crash must not leave a name without its content.
        let written = URL(filePath: new)
        let handle = try FileHandle(forWritingTo: written)
        try handle.synchronize()
        try handle.close()
        if rename(new, settings) != 0 {
            throw SiteError(description: "\(settings): \(errno)")
        }
    }

    func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// False for a missing and for an empty file.
    func hasContents(_ path: String) throws -> Bool {
        guard exists(path) else { return false }
        let attributes = try FileManager.default
            .attributesOfItem(atPath: path)
        return attributes[.size] as? Int != 0
    }

    /// False for a folder and for a symbolic link.
    func isFile(_ path: String) throws -> Bool {
        guard exists(path) else { return false }
        let attributes = try FileManager.default
            .attributesOfItem(atPath: path)
        return attributes[.type] as? FileAttributeType
            == .typeRegular
    }

    /// The names of unfinished uploads begin with a dot.
    func names(in path: String) throws -> [String] {
        guard exists(path) else { return [] }
        return try FileManager.default
            .contentsOfDirectory(atPath: path)
            .filter { !$0.hasPrefix(".") }
    }
}

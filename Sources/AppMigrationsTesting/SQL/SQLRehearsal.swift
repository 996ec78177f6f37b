import AppMigrations
public import AppMigrationsSQL

/// Upgrades the recorded schema of each release with the current SQL migrations, in the same way in which the
/// app will upgrade the databases of users.
///
/// Keep a folder with the tests. It has a script for each release, such as `2.1.sql`, which creates the
/// schema and the ledger of that release. It also has `migrations.lock`, the lock file of a
/// ``ReleasedMigrations``. ``record(_:opening:)`` writes both. After each script, the migrations must run
/// without an error and produce the schema of a new database, in which each view and trigger compiles. A
/// table without a row gets an invented one, because SQLite refuses some changes only where there is a row.
///
/// ```swift
/// let rehearsal = SQLRehearsal(
///     of: migrator,
///     releasesIn: folderOfTheTests + "/Releases"
/// )
/// let report = try rehearsal.run {
///     try SQLiteConnection(path: ":memory:")
/// }
/// try report.requireClean()
/// ```
///
/// A rehearsal compares the schemas at the end, and not the rows: see the test below.
///
/// This works with SQLite databases only. The connection can be of any library, and this product doesn't link
/// one. A rehearsal doesn't fail a test itself. It returns a ``RehearsalReport``.
public struct SQLRehearsal<Connection: SQLConnection>: Sendable {
    let migrator: SQLMigrator<Connection>
    let folder: String
    let ignored: [SQLName]

    /// Describes a rehearsal; nothing is read or run yet.
    ///
    /// - Parameters:
    ///   - migrator: The migrator of the app, as it is about to be released.
    ///   - folder: The path of the folder with the records, in the sources of the tests and not in their
    ///     bundle.
    ///   - tables: Tables that no migration creates, for example the tables of another library. These tables,
    ///     their indexes and their triggers aren't compared.
    public init(
        of migrator: SQLMigrator<Connection>,
        releasesIn folder: String,
        ignoring tables: [String] = []
    ) {
        self.migrator = migrator
        self.folder = FolderFiles.withoutExtraSlashes(folder)
        ignored = tables.map { SQLName($0) }
    }

    private var releasedMigrations: ReleasedMigrations {
        ReleasedMigrations(file: folder + "/migrations.lock")
    }

    /// Records the current migrations and their schema as a release, for later rehearsals.
    ///
    /// This runs the migrations in a new database, writes its schema to `<release>.sql`, and adds the new
    /// migrations to `migrations.lock`. Recording the same release again changes nothing. Commit both files.
    ///
    /// - Parameters:
    ///   - release: The version of the app that is about to be released, such as `2.1`.
    ///   - open: Opens a new and empty database, for example in memory.
    /// - Throws: ``RehearsalFinding`` if a released migration was edited, or if this release was already
    ///   recorded with a different schema. `SQLError` if a migration fails. `MigrationError` if `release`
    ///   isn't a version.
    public func record(_ release: String, opening open: () throws -> Connection) throws {
        try record(release) { body in try body(open()) }
    }

    /// Rehearses the migrations in a new database, and from the schema of each release.
    ///
    /// - Parameters:
    ///   - open: Opens a new and empty database, for example in memory. It is called once for each run.
    ///   - prepare: The work that the app does in its database before it calls `migrate`. For example, it
    ///     calls `markApplied(upTo:in:)` if another library numbered the schemas before.
    /// - Returns: The report, with a row for a new database and one for each release.
    /// - Throws: The errors of `open` and of files. The error of a migration is a finding instead.
    public func run(
        opening open: () throws -> Connection,
        preparing prepare: (Connection) throws -> Void = { _ in }
    ) throws -> RehearsalReport {
        try run(lending: { body in try body(open()) }, preparing: prepare)
    }
}

extension SQLRehearsal {
    /// Records a release, like `record(_:opening:)`, with a library that passes its connection to a closure.
    ///
    /// `lend` must call the given closure with a connection to a new and empty database. For example, with
    /// GRDB pass `lending: { try DatabaseQueue().inDatabase($0) }`.
    public func record(_ release: String, lending lend: ((Connection) throws -> Void) throws -> Void) throws {
        _ = try AppVersion(parsing: release)
        var script: String?
        try lend { db in
            try requireEmpty(db)
            try migrator.migrate(db)
            script = try SQLSchemaRecord(of: db, release: release, ledger: migrator.ledger).script
        }
        guard let script else { throw Self.notLent }
        let file = "\(folder)/\(release).sql"
        let recorded = try FolderFiles.textIfPresent(file)
        if let recorded, recorded != script {
            let text = "\(release) is recorded with another schema in \(file)."
            let advice =
                "Delete that file if \(release) was never released. Otherwise record the next release."
            throw RehearsalFinding(.recordedOtherwise, release: release, "\(text) \(advice)")
        }
        try FolderFiles.makeFolder(folder)
        try releasedMigrations.record(migrator)
        if recorded == nil { try FolderFiles.write(script, to: file) }
    }

    /// Rehearses the migrations, like `run(opening:preparing:)`, with a library that passes its connection
    /// to a closure.
    ///
    /// `lend` must call the given closure with a connection to a new and empty database. For example, with
    /// GRDB pass `lending: { try DatabaseQueue().inDatabase($0) }`.
    public func run(
        lending lend: ((Connection) throws -> Void) throws -> Void,
        preparing prepare: (Connection) throws -> Void = { _ in }
    ) throws -> RehearsalReport {
        // The closure that is passed to `lend` captures `prepare`. The compiler allows that only for an
        // escaping closure.
        try withoutActuallyEscaping(prepare) { try rehearse(lending: lend, preparing: $0) }
    }

    private func rehearse(
        lending lend: ((Connection) throws -> Void) throws -> Void,
        preparing prepare: @escaping (Connection) throws -> Void
    ) throws -> RehearsalReport {
        let versions = migrator.migrations.map(\.version.description)
        var report = RehearsalReport(
            name: "SQL migrations",
            currentVersion: versions.last ?? "–",
            hasFreshInstall: true
        )
        report.declaredVersions = versions
        report.versionFindings = try releasedMigrations.findings(in: migrator)
        let releases = try releases()
        if releases.isEmpty {
            let text = "No release is recorded in \(folder). Record the release that users have now."
            report.versionFindings.append(RehearsalFinding(.notRehearsed, text))
        }
        let reported = Set(report.versionFindings.compactMap { $0.version.flatMap { Int64($0) } })
        func runOnce(from release: AppVersion?, after new: Run?) throws -> Run {
            var run: Run?
            try lend { db in
                try requireEmpty(db)
                run = Run(rehearsal: self, release: release, alreadyReported: reported)
                try run?.rehearse(in: db, preparing: prepare, after: new)
            }
            guard let run else { throw Self.notLent }
            return run
        }
        let new = try runOnce(from: nil, after: nil)
        report.runs.append(new.row)
        for release in releases {
            report.runs.append(try runOnce(from: release, after: new).row)
        }
        return report
    }

    private func releases() throws -> [AppVersion] {
        try FolderFiles.names(in: folder).filter { $0.hasSuffix(".sql") }
            .map { name throws(MigrationError) in try AppVersion(parsing: name.dropLast(4)) }
            .sorted()
    }

    private func requireEmpty(_ db: Connection) throws {
        if Connection.dialect == .postgres {
            let problem = "Schemas are recorded and compared in SQLite only."
            let advice = "ReleasedMigrations works with the migrations of any database."
            throw RehearsalFinding(.failed, "\(problem) \(advice)")
        }
        if try db.query("SELECT 1 FROM main.sqlite_master LIMIT 1").isEmpty { return }
        let problem = "The database that was opened isn't empty."
        let advice = "Open a new database for each run, for example in memory."
        throw RehearsalFinding(.failed, "\(problem) \(advice)")
    }

    private static var notLent: RehearsalFinding {
        RehearsalFinding(
            .failed,
            "The closure lending: must call the closure that it receives, with a connection."
        )
    }
}

import AppMigrations
public import AppMigrationsSQL

/// Runs an app's SQL migrations from the schema of each release to the newest, before its users do.
///
/// A folder that is kept with the tests has a script for each release, such as `2.1.sql`, with the schema and
/// the ledger that the release left. It also has `migrations.lock`, the file of a ``ReleasedMigrations``.
/// ``record(_:opening:)`` writes both. From each script, the migrations must run and end with the schema of a
/// new database.
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
/// The databases are SQLite's, on a connection of any library: this product links none. A rehearsal asserts
/// nothing itself: it returns a ``RehearsalReport``.
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
    ///   - tables: Tables that no migration made, for instance those of another library. The comparison
    ///     leaves them out, with their indexes and triggers.
    public init(
        of migrator: SQLMigrator<Connection>,
        releasesIn folder: String,
        ignoring tables: [String] = []
    ) {
        self.migrator = migrator
        self.folder = folder
        ignored = tables.map { SQLName($0) }
    }

    private var releasedMigrations: ReleasedMigrations {
        ReleasedMigrations(file: folder + "/migrations.lock")
    }

    /// Records the migrations as those of a release, for all rehearsals that follow.
    ///
    /// It runs them in a new database, writes its schema to `<release>.sql`, and adds the new migrations to
    /// `migrations.lock`. Recording the same release again changes nothing. Commit both files.
    ///
    /// - Parameters:
    ///   - release: The version of the app that is about to be released, such as `2.1`.
    ///   - open: Opens a new and empty database, in memory for instance.
    /// - Throws: ``RehearsalFinding`` for released migrations that were edited, and for a release that is
    ///   recorded with another schema; `SQLError` of a migration; `MigrationError` for a version that can't
    ///   be read.
    public func record(_ release: String, opening open: () throws -> Connection) throws {
        try record(release) { body in try body(open()) }
    }

    /// Rehearses the migrations in a new database, and from the schema of each release.
    ///
    /// - Parameters:
    ///   - open: Opens a new and empty database, in memory for instance. It is called once for each run.
    ///   - prepare: The app's own work on its database before it calls `migrate`: a `markApplied(upTo:in:)`
    ///     for schemas that another library numbered.
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
    /// Records a release on a connection that its library lends for the time of a call, as GRDB's queues do.
    ///
    /// For GRDB it is `lending: { try DatabaseQueue().inDatabase($0) }`.
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
        let recorded = try FolderFiles.textIfThere(file)
        if let recorded, recorded != script {
            let text = "\(release) is recorded with another schema in \(file)."
            let way = "Delete that file if \(release) was never released, or record the release that follows."
            throw RehearsalFinding(.recordedOtherwise, release: release, "\(text) \(way)")
        }
        try FolderFiles.makeFolder(folder)
        try releasedMigrations.record(migrator)
        if recorded == nil { try FolderFiles.write(script, to: file) }
    }

    /// Rehearses the migrations on connections that their library lends for the time of a call, as GRDB's
    /// queues do.
    ///
    /// For GRDB it is `lending: { try DatabaseQueue().inDatabase($0) }`.
    public func run(
        lending lend: ((Connection) throws -> Void) throws -> Void,
        preparing prepare: (Connection) throws -> Void = { _ in }
    ) throws -> RehearsalReport {
        // A closure that is lent a connection must not capture one that doesn't escape.
        try withoutActuallyEscaping(prepare) { try rehearsed(lend, $0) }
    }

    private func rehearsed(
        _ lend: ((Connection) throws -> Void) throws -> Void,
        _ prepare: @escaping (Connection) throws -> Void
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
            let text = "No release is recorded in \(folder). Record the one that users have."
            report.versionFindings.append(RehearsalFinding(.notRehearsed, text))
        }
        let found = Set(report.versionFindings.compactMap { $0.version.flatMap { Int64($0) } })
        var new: SQLSchema?
        for release in [nil] + releases.map(Optional.some) {
            var run: Run?
            try lend { db in
                try requireEmpty(db)
                run = Run(rehearsal: self, release: release, found: found)
                try run?.rehearse(db, prepare, comparedWith: new)
            }
            guard let run else { throw Self.notLent }
            if release == nil { new = run.schema }
            report.runs.append(run.row)
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
            let way = "ReleasedMigrations works with the migrations of any database."
            throw RehearsalFinding(.failed, "\(problem) \(way)")
        }
        if try db.query("SELECT 1 FROM main.sqlite_master LIMIT 1").isEmpty { return }
        let problem = "The database that was opened has a schema already."
        throw RehearsalFinding(.failed, "\(problem) Open a new one for each run, in memory for instance.")
    }

    private static var notLent: RehearsalFinding {
        RehearsalFinding(.failed, "No connection was lent: lending: has to call its closure.")
    }
}

internal import AppMigrations
internal import AppMigrationsSQLite

/// One call of `migrateStaged`, under its lock: it copies the store, migrates the copy and checks it.
///
/// `StagedMigration+Replacing` writes the copy back into the store.
struct StagedMigration {
    typealias Progress = (SQLiteStore.Progress) -> SQLiteStore.Answer
    typealias Body = (SQLiteConnection) throws -> Void

    let files: StoreFiles
    /// The path of the backup, if one is made.
    let backup: String?
    let check: SQLiteStore.Check
    /// True if the virtual tables of the copy are checked, too.
    var checksVirtualTables = false
    let lockTimeout: Duration
    /// Registers the app's functions and collations on the connections to the copy and on those that check.
    var preparation = ConnectionPreparation.none
    /// A hook for tests, called at the moment when the store isn't locked, so that a test can write to it.
    var whenUnlocked: () throws(SQLError) -> Void = { () throws(SQLError) in }

    /// A step copies a few megabytes: small enough for a smooth progress bar, and large enough to cost no
    /// time.
    static var pagesPerStep: Int32 { 1_024 }

    /// Opens a file, with commits that survive a power failure.
    ///
    /// The settings aren't restored, because nobody else uses the connection.
    func open(_ path: String, for access: SQLiteConnection.Access) throws(SQLError) -> SQLiteConnection {
        let db = try SQLiteConnection.forOwnUse(path: path, access: access, busyTimeout: lockTimeout)
        try db.query("PRAGMA synchronous = EXTRA")
        try db.query("PRAGMA fullfsync = ON")
        return db
    }

    /// Copies the store to a file with the same permissions.
    func copyStore(
        to path: String,
        phase: SQLiteStore.Progress.Phase,
        reportingTo progress: Progress
    ) throws(SQLError) -> SQLiteConnection {
        try SQLError.ofFile(path, "The copy of the store could not be made") {
            try Platform.makeFile($0, like: Platform.status(files.store))
        }
        let db = try open(path, for: .writing)
        try preparation.register(on: db)
        // The connection that holds the write lock can't be the source (sqlite3_backup_step, SQLITE_BUSY).
        let reader = try SQLiteConnection.forOwnUse(
            path: files.store,
            access: .writing,
            busyTimeout: lockTimeout
        )
        defer { reader.close() }
        let copying = try SQLiteConnection.PageCopy(from: reader, to: db)
        defer { copying.finish() }
        try report(SQLiteStore.Progress(phase), to: progress)
        while try copying.step(Self.pagesPerStep) { try report(copying.progress(of: phase), to: progress) }
        return db
    }

    /// Reports the progress to the caller, and throws if the caller answers `.cancel` or its task was
    /// cancelled.
    func report(_ state: SQLiteStore.Progress, to progress: Progress) throws(SQLError) {
        let answer = progress(state)
        if Task<Never, Never>.isCancelled { throw SQLError.taskCancelled }
        if answer == .cancel { throw Self.stopped }
    }

    private static var stopped: SQLError { SQLError(.stopped, "The progress closure answered .cancel") }

    /// Runs the migration on the copy and checks the result.
    ///
    /// - Returns: The virtual tables of the copy with a problem; `nil` if the migration wrote nothing.
    func migrate(_ copy: SQLiteConnection, reportingTo progress: Progress, _ body: Body) throws(SQLError)
        -> [SQLiteStore.VirtualTableProblem]?
    {
        let violations = check == .off ? nil : try ForeignKeyViolations(in: copy)
        try report(SQLiteStore.Progress(.migrating), to: progress)
        let before = try copy.dataVersion()
        let pages = Int(try copy.number("PRAGMA page_count"))
        try runBody(body, on: copy, totalPages: pages, reportingTo: progress)
        try refreshOutsideTransactions(of: copy)
        if try copy.dataVersion() == before { return nil }
        return try checkCopy(violationsBefore: violations, totalPages: pages, reportingTo: progress)
    }

    /// Runs the migration on the copy, and throws if it left a transaction open or replaced the copy's file.
    private func runBody(
        _ body: Body,
        on copy: SQLiteConnection,
        totalPages pages: Int,
        reportingTo progress: Progress
    ) throws(SQLError) {
        let identity = try StoreFiles.status(files.copy)?.identity
        try runReporting(.migrating, on: copy, totalPages: pages, to: progress) { () throws(SQLError) in
            do { try body(copy) } catch {
                let outcome = "The copy was thrown away, and the store \(files.store) is as it was"
                // The migrations in the list were committed to the copy, which is deleted.
                throw SQLError.failure(error, of: files.store, outcome: outcome).with { $0.applied = [] }
            }
        }
        if try copy.isInTransaction {
            throw refusal(.alreadyInTransaction, "The migration left a transaction open")
        }
        if try StoreFiles.status(files.copy)?.identity != identity {
            throw refusal(.migrationFailed, "The migration replaced the file of the copy with another file")
        }
    }

    /// Checks the migrated copy, and throws if it has problems that the store doesn't have, or if the store
    /// is damaged.
    ///
    /// A damaged store must not become the backup, because then the last good backup would be lost.
    ///
    /// `violationsBefore` are the rows that referred to a missing row before the migration. It is `nil` if
    /// such rows aren't checked.
    ///
    /// - Returns: The virtual tables of the copy with a problem.
    private func checkCopy(
        violationsBefore: ForeignKeyViolations?,
        totalPages pages: Int,
        reportingTo progress: Progress
    ) throws(SQLError) -> [SQLiteStore.VirtualTableProblem] {
        try report(SQLiteStore.Progress(.checking), to: progress)
        let checker = try connectionForCheck(of: files.copy)
        try runReporting(.checking, on: checker, totalPages: pages, to: progress) { () throws(SQLError) in
            let complaints = try Complaints(check, of: checker)
            if complaints.isEmpty { return }
            let store = try connectionForCheck(of: files.store)
            let before = try Complaints(check, of: store)
            if let damage = before.damage { throw damagedBefore(damage) }
            if let added = complaints.added(since: before) { throw added.with { $0.path = files.store } }
        }
        // Use a new connection, because the copy's connection may have cached a schema that is no longer in
        // the file.
        let reader = try SQLiteConnection.forOwnUse(
            path: files.copy,
            access: .writing,
            busyTimeout: lockTimeout
        )
        try preparation.register(on: reader)
        var problems = [SQLiteStore.VirtualTableProblem]()
        try runReporting(.checking, on: reader, totalPages: pages, to: progress) { () throws(SQLError) in
            if let violationsBefore,
                let error = try ForeignKeyViolations(in: reader).violationsAdded(since: violationsBefore)
            {
                throw error
            }
            if checksVirtualTables {
                let tables = try SchemaObject.virtualTables(of: reader)
                problems = try SQLiteStore.VirtualTableProblem
                    .problems(foundBy: check, in: tables, of: reader)
            }
        }
        return problems
    }

    /// Checks the new backup, and throws if it is damaged.
    ///
    /// The migration may have repaired the damage in the copy, or it may have copied only those rows of a
    /// damaged table that SQLite still finds. Then only the store, and so the backup of it, shows the damage.
    func checkNewBackup(reportingTo progress: Progress) throws(SQLError) {
        let db = try connectionForCheck(of: files.newBackup)
        defer { db.close() }
        let pages = Int(try db.number("PRAGMA page_count"))
        try runReporting(.backingUp, on: db, totalPages: pages, to: progress) { () throws(SQLError) in
            if let damage = try Complaints(check, of: db).damage { throw damagedBefore(damage) }
        }
    }

    private func damagedBefore(_ damage: String) -> SQLError {
        refusal(.damaged, "The store was damaged before the migration: \(damage)")
    }

    /// A connection on which a check skips virtual tables.
    private func connectionForCheck(of path: String) throws(SQLError) -> SQLiteConnection {
        let db = try SQLiteConnection.forOwnUse(path: path, access: .writing, busyTimeout: lockTimeout)
        try preparation.register(on: db)
        if check != .off { db.removeModules(of: try SchemaObject.virtualTables(of: db)) }
        return db
    }

    /// Runs `body`, and reports several times a second how much of the copy its statements have read.
    ///
    /// Throws if the caller answered `.cancel`, even if `body` ignored the error that its statement threw
    /// then.
    private func runReporting(
        _ phase: SQLiteStore.Progress.Phase,
        on copy: SQLiteConnection,
        totalPages total: Int,
        to progress: Progress,
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) {
        let first = copy.readPages
        var isStopped = false
        do throws(SQLError) {
            try copy.run(body) {
                let state = SQLiteStore.Progress(phase, min(copy.readPages - first, total), of: total)
                isStopped = isStopped || progress(state) == .cancel
                return !isStopped
            }
        } catch { if !isStopped { throw error } }
        if isStopped { throw Self.stopped }
    }

    /// Makes `copy` see what other connections wrote to it, and throws if one of them is still in a
    /// transaction.
    ///
    /// A connection sees the writes of others when it begins a transaction.
    private func refreshOutsideTransactions(of copy: SQLiteConnection) throws(SQLError) {
        do throws(SQLError) {
            try copy.query("BEGIN IMMEDIATE")
            try copy.query("SELECT count(*) FROM sqlite_master")
            try copy.query("ROLLBACK")
        } catch {
            if error.code != .busy { throw error }
            throw refusal(.alreadyInTransaction, "Another connection to the copy is still in a transaction")
        }
    }

    private func refusal(_ code: SQLError.Code, _ message: String) -> SQLError {
        SQLError(code, "\(message). The store was not replaced").with { $0.path = files.store }
    }

    /// Throws if SQLite can't write the copy into the store.
    func checkPageSize(of copy: SQLiteConnection, against live: SQLiteConnection) throws(SQLError) {
        // A step fails with SQLITE_READONLY if the destination is in WAL mode and the page sizes differ
        // (sqlite3_backup_step).
        let copyPageSize = try copy.query("PRAGMA page_size")
        let storePageSize = try live.query("PRAGMA page_size")
        if copyPageSize == storePageSize { return }
        if try live.query("PRAGMA journal_mode") != [["wal"]] { return }
        throw refusal(
            .migrationFailed,
            "The migration changed the page size, which SQLite can't do for a store in WAL mode."
                + " Set the journal mode of the store to DELETE first, or keep the page size"
        )
    }
}

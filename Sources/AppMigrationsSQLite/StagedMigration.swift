/// One call of `migrateStaged`, under its lock: a copy, the migration of it, the checks.
///
/// `StagedMigration+InPlace` and `StagedMigration+Renaming` put it in the store's place.
struct StagedMigration {
    typealias Progress = (SQLiteStore.Progress) -> SQLiteStore.Answer
    typealias Body = (SQLiteConnection) throws -> Void

    let files: StoreFiles
    /// Where the old store stays, if it does.
    let backup: String?
    let check: SQLiteStore.Check
    let lockTimeout: Duration
    /// Called in the moment in which the store has no lock, so that a test can write there.
    var whenUnlocked: () throws(SQLError) -> Void = { () throws(SQLError) in }

    /// Some megabytes: often enough for a progress bar, and too seldom to cost anything.
    private static var pagesPerStep: Int32 { 1_024 }

    /// Opens the store, with commits that survive a power failure.
    func openStore() throws(SQLError) -> SQLiteConnection {
        let live = try SQLiteConnection(path: files.store, .making, lockTimeout)
        try Self.makeDurable(live)
        return live
    }

    /// See ``SQLDurability``; the connection is ours alone, so that nothing is set back.
    private static func makeDurable(_ db: SQLiteConnection) throws(SQLError) {
        try db.query("PRAGMA synchronous = EXTRA")
        try db.query("PRAGMA fullfsync = ON")
    }

    /// Makes an empty file at `path` that is as private as the store, and opens it.
    func makeDatabase(_ path: String, keepsOwner: Bool) throws(SQLError) -> SQLiteConnection {
        try SQLError.ofFile(path, "The copy of the store could not be made") {
            () throws(Platform.Failure) in
            let store = try Platform.status(ofFile: files.store)
            try Platform.makeFile(path, like: store, keepsOwner: keepsOwner)
        }
        let db = try SQLiteConnection(path: path, .writing, lockTimeout)
        try Self.makeDurable(db)
        return db
    }

    /// Runs a copy to its end, and tells how far it is.
    func run(
        _ backup: SQLiteConnection.Backup,
        _ phase: SQLiteStore.Progress.Phase,
        _ progress: Progress
    ) throws(SQLError) {
        defer { backup.finish() }
        try report(SQLiteStore.Progress(phase), progress)
        while try backup.step(Self.pagesPerStep) {
            let total = backup.pageCount
            try report(SQLiteStore.Progress(phase, total - backup.remainingPages, of: total), progress)
        }
    }

    /// Ends everything where the caller or its task wants that.
    func report(_ state: SQLiteStore.Progress, _ progress: Progress) throws(SQLError) {
        let answer = progress(state)
        if Task<Never, Never>.isCancelled { throw SQLError(.cancelled, "The task was cancelled") }
        if answer == .cancel { throw SQLError(.stopped, "The progress closure answered .cancel") }
    }

    /// Runs the migration on the copy and checks what it left; `false` when it wrote nothing.
    func migrate(_ copy: SQLiteConnection, _ progress: Progress, _ body: Body) throws(SQLError) -> Bool {
        let checksKeys = check != .none
        let orphans = checksKeys ? try SQLForeignKeys.orphans(in: copy) : Orphans()
        let tables = try names(in: copy)
        try report(SQLiteStore.Progress(.migrating), progress)
        let before = try copy.dataVersion()
        do {
            try body(copy)
        } catch {
            throw SQLError.wrapped(error, as: .migrationFailed)
        }
        if try copy.isInTransaction {
            throw SQLError(
                .alreadyInTransaction,
                "The migration left a transaction open. The store was not replaced"
            )
        }
        if try copy.dataVersion() == before { return false }
        try report(SQLiteStore.Progress(.checking), progress)
        // A connection of its own: the copy's may remember a schema that is no longer in the file.
        let reader = try SQLiteConnection(path: files.copy, .writing, lockTimeout)
        defer { reader.close() }
        if let complaint = try complaint(about: reader) {
            throw SQLError(
                .damaged,
                "The migrated copy is damaged, and was not put in the store's place: \(complaint)"
            )
        }
        if checksKeys {
            let left = try SQLForeignKeys.orphans(in: reader)
            if let rows = left.excess(over: orphans, tables: (tables, try names(in: reader))) {
                throw SQLError(.foreignKeyViolation, rows)
            }
        }
        return true
    }

    private func complaint(about db: SQLiteConnection) throws(SQLError) -> String? {
        do throws(SQLError) {
            return try check.complaint(about: db)
        } catch {
            // What is too broken to be checked.
            if ResultKind(error) == .corrupt { return error.message }
            throw error
        }
    }

    private func names(in db: SQLiteConnection) throws(SQLError) -> [String] {
        try SchemaObject.all(of: db).filter { $0.kind == .table }.map(\.name.text)
    }

    /// Puts the complete backup where it belongs, in place of an earlier one.
    func publishBackup(_ backup: String) throws(SQLError) {
        try SQLError.ofFile(backup, "The backup could not be put in its place") {
            () throws(Platform.Failure) in
            try Platform.rename(files.newBackup, to: backup)
            try Platform.synchronizeFolder(of: backup)
        }
    }
}

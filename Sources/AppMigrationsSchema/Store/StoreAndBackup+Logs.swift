internal import AppMigrations
internal import AppMigrationsSQLite

// Finds out which file a log belongs to.
extension StoreAndBackup {
    typealias Stray = (path: String, owner: InterruptedStoreCopy.Choice?)

    /// A log or a journal that may belong to the backup but doesn't have its name; `nil` if there is none.
    ///
    /// For the backup `notes.sqlite_bak`, the log has one of two names: `notes.sqlite-wal_bak`, if the app
    /// has appended the ending to each file, or `notes.sqlite-wal`, if the app has renamed only the store.
    /// The result's `owner` is `nil` if it can't be found out whose log it is. The table shows the owner of
    /// `notes.sqlite-wal`:
    ///
    /// | fit with the backup | store is sound with the log | store is missing or damaged with it |
    /// | --- | --- | --- |
    /// | none | store | store |
    /// | unclear | store | unknown |
    /// | clear | unknown | backup |
    ///
    /// If the backup has a log at its own name, no other log can belong to it.
    func stray(
        _ ending: String,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) -> Stray? {
        if try StoreFiles.hasContent(backup.store + ending, ending: ending) { return nil }
        // The app may have renamed each file by appending the same ending: `notes.sqlite-wal` to
        // `notes.sqlite-wal_bak`.
        if let suffix {
            let path = store.store + ending + suffix
            if try StoreFiles.hasContent(path, ending: ending) {
                let fit = try fit(ofLog: path, ending: ending, check: check, lockTimeout: lockTimeout)
                if fit != .none { return (path, fit == .clear ? .backup : nil) }
            }
        }
        let path = store.store + ending
        if try !StoreFiles.hasContent(path, ending: ending) { return nil }
        let fit = try fit(ofLog: path, ending: ending, check: check, lockTimeout: lockTimeout)
        if fit == .none { return (path, .store) }
        if try store.hasBytes, try isSound(store, log: path, ending: ending, check: check) {
            return (path, fit == .clear ? nil : .store)
        }
        return (path, fit == .clear ? .backup : nil)
    }

    /// How well a log fits the backup.
    private enum Fit {
        /// With the log, the backup is damaged or empty; or the log has no commits.
        case none
        /// With the log, the backup is sound, but lacks tables or rows that it has without the log.
        ///
        /// The fit is also unclear if the check is off, or if a schema doesn't compile.
        case unclear
        /// With the log, the backup is sound. It lacks nothing that it has without the log, or is damaged or
        /// empty without the log.
        case clear
    }

    /// Finds out whether a log belongs to the backup.
    ///
    /// Nothing in a log says which database it belongs to. So SQLite opens a copy of the backup together with
    /// a copy of the log. A sound result isn't proof yet: the log of a new store can contain every page of
    /// that store, and then it turns the backup into the new store. So the tables and rows are compared, too.
    private func fit(
        ofLog path: String,
        ending: String,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) -> Fit {
        try refuseUsed(backup, lockTimeout: lockTimeout)
        if check == .off { return .unclear }
        do throws(SQLError) {
            let alone = try contents(of: try makeScratchCopy(of: backup))
            let copy = try makeScratchCopy(of: backup, log: path, ending: ending)
            guard let complete = try contents(of: copy) else { return .none }
            if ending == "-wal", try isWithoutCommits(copy) { return .none }
            guard let alone else { return .clear }
            return complete.includes(alone) ? .clear : .unclear
        } catch {
            // The wrong log can result in a schema that doesn't compile.
            if error.code == .newerSchema { return .unclear }
            throw error.with { $0.path = backup.store }
        }
    }

    /// True if SQLite finds no commit in the log of a copy, for example because all of them are in the file
    /// already.
    private func isWithoutCommits(_ copy: StoreFiles) throws(SQLError) -> Bool {
        let db = try SQLiteConnection.forOwnUse(path: copy.store, access: .writing, busyTimeout: .zero)
        defer { db.close() }
        try db.query("SELECT count(*) FROM sqlite_master")
        // The second column is the number of pages in the log.
        return try db.query("PRAGMA wal_checkpoint(PASSIVE)")[0][1] == 0
    }

    private func isSound(
        _ files: StoreFiles,
        log path: String,
        ending: String,
        check: SQLiteStore.Check
    ) throws(SQLError) -> Bool {
        if check == .off { return false }
        do throws(SQLError) {
            return try contents(of: try makeScratchCopy(of: files, log: path, ending: ending)) != nil
        } catch {
            if error.code == .newerSchema { return false }
            throw error.with { $0.path = files.store }
        }
    }

    /// The statements of a schema, and the number of rows of each ordinary table by its statement.
    private struct Contents {
        var schema = Set<String>()
        var counts: [String: Int64] = [:]

        func includes(_ other: Contents) -> Bool {
            schema.isSuperset(of: other.schema) && other.counts.allSatisfy { counts[$0] ?? 0 >= $1 }
        }
    }

    /// The contents of a sound database; `nil` if it is empty or damaged.
    private func contents(of files: StoreFiles) throws(SQLError) -> Contents? {
        var contents: Contents?
        do throws(SQLError) {
            try StoreExamination(files: files, busyTimeout: .zero).examine(check: .full, reporting: nil) {
                db throws(SQLError) in
                var found = Contents()
                for object in try SchemaObject.all(of: db) {
                    guard let sql = object.sql else { continue }
                    found.schema.insert(sql)
                    if object.kind != .table || object.isVirtual { continue }
                    found.counts[sql] = try db.number("SELECT count(*) FROM \(object.qualifiedName)")
                }
                contents = found
            }
        } catch {
            if error.code != .damaged { throw error }
        }
        return contents
    }

    /// Makes a copy of a database next to the store, with a log if one is given, and deletes the previous
    /// copy.
    func makeScratchCopy(
        of files: StoreFiles,
        log: String? = nil,
        ending: String = ""
    ) throws(SQLError) -> StoreFiles {
        try store.removeLeftovers()
        let copies = [(files.store, store.copy)] + (log.map { [($0, store.copy + ending)] } ?? [])
        for (original, copy) in copies {
            try SQLError.ofFile(copy, "A copy to be examined could not be made") {
                try FileCopier().copy(original, to: $0) { _ in }
            }
        }
        return try StoreFiles(of: store.copy, mayBeEncrypted: files.mayBeEncrypted)
    }
}

internal import AppMigrations
internal import AppMigrationsSQLite

// Whose log it is.
extension StoreAndBackup {
    typealias Stray = (path: String, owner: InterruptedStoreCopy.Choice?)

    /// A log or a journal that may be the backup's and has another name; `nil` if there is none.
    func stray(
        _ ending: String,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) -> Stray? {
        if try StoreFiles.hasContent(backup.store + ending, ending: ending) { return nil }
        // A recipe may have put its ending at the end of each file's name.
        if let suffix {
            let path = store.store + ending + suffix
            if try StoreFiles.hasContent(path, ending: ending) {
                let fit = try fit(of: path, ending, check: check, lockTimeout: lockTimeout)
                if fit != .none { return (path, fit == .clear ? .backup : nil) }
            }
        }
        let path = store.store + ending
        if try !StoreFiles.hasContent(path, ending: ending) { return nil }
        let fit = try fit(of: path, ending, check: check, lockTimeout: lockTimeout)
        if fit == .none { return (path, .store) }
        if try store.hasBytes, try isSound(store, with: path, ending, check: check) {
            return (path, fit == .clear ? nil : .store)
        }
        return (path, fit == .clear ? .backup : nil)
    }

    /// How well a log belongs to the backup.
    private enum Fit {
        /// The backup is damaged with it, or it changes nothing.
        case none
        /// The backup is sound with it, but lacks tables or rows that it has alone.
        case unclear
        /// The backup is sound with it and has all that it has alone, or it is damaged without it.
        case clear
    }

    /// Finds out whether a log belongs to the backup.
    ///
    /// A log has no mark of its database. So SQLite opens a copy of the backup with a copy of the log. The
    /// log of a new store can contain each page of it: with such a log the backup is sound, and is the new
    /// store.
    private func fit(
        of path: String,
        _ ending: String,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) -> Fit {
        try refuseUsed(backup, lockTimeout: lockTimeout)
        if check == .off { return .unclear }
        do throws(SQLError) {
            let alone = try contents(of: try scratch(of: backup))
            let copy = try scratch(of: backup, with: path, ending)
            guard let complete = try contents(of: copy) else { return .none }
            if ending == "-wal", try isWithoutCommits(copy) { return .none }
            guard let alone else { return .clear }
            return complete.includes(alone) ? .clear : .unclear
        } catch {
            // A schema that doesn't compile can come of the wrong log.
            if error.code == .newerSchema { return .unclear }
            throw error.with { $0.path = backup.store }
        }
    }

    /// True if SQLite finds no commit in the log of a copy, as after all of them were written to the file.
    private func isWithoutCommits(_ copy: StoreFiles) throws(SQLError) -> Bool {
        let db = try SQLiteConnection(path: copy.store, access: .writing, busyTimeout: .zero)
        defer { db.close() }
        try db.query("SELECT count(*) FROM sqlite_master")
        // The second column is the number of pages in the log.
        return try db.query("PRAGMA wal_checkpoint(PASSIVE)")[0][1] == 0
    }

    private func isSound(
        _ files: StoreFiles,
        with path: String,
        _ ending: String,
        check: SQLiteStore.Check
    ) throws(SQLError) -> Bool {
        if check == .off { return false }
        do throws(SQLError) {
            return try contents(of: try scratch(of: files, with: path, ending)) != nil
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
            _ = try StoreLook(files: files, busyTimeout: .zero).isUsable(.full, reporting: nil) {
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

    /// A copy of a file next to the store, with a log if one is given.
    func scratch(
        of files: StoreFiles,
        with log: String? = nil,
        _ ending: String = ""
    ) throws(SQLError) -> StoreFiles {
        try store.removeLeftovers()
        let copies = [(files.store, store.copy)] + (log.map { [($0, store.copy + ending)] } ?? [])
        for (original, copy) in copies {
            try SQLError.ofFile(copy, "A copy to be examined could not be made") {
                try FileCopier().copy(original, to: $0) { _ in }
            }
        }
        return try StoreFiles(of: store.copy)
    }
}

extension StoreFiles {
    /// True if a log or a journal has something that SQLite would play into its database.
    ///
    /// SQLite ignores a journal whose first byte is zero, which is how a commit ends in the journal mode
    /// PERSIST. A journal of a database that had no pages before has four zeros from byte 16 on: rolled back,
    /// the database would be empty.
    static func hasContent(_ path: String, ending: String) throws(SQLError) -> Bool {
        guard let status = try status(path), status.kind == .file, status.size > 0 else { return false }
        if ending == "-wal" { return true }
        let head = try head(ofFile: path, count: 20)
        return head.count == 20 && head[0] != 0 && head[16...].contains { $0 != 0 }
    }
}

internal import AppMigrations
internal import AppMigrationsSQLite

/// Moves a damaged store out of the way.
///
/// Only under the lock.
struct StoreAside {
    let files: StoreFiles

    init(_ files: StoreFiles) { self.files = files }

    private var prefix: String { files.store + "-corrupt-" }

    /// True if there is something to do about the store, or left of a start that died while it did it.
    func isNeeded(_ found: StoreInspection) throws(SQLError) -> Bool {
        switch found {
        // Unreachable is also a store that another process is renaming.
        case .damaged, .unreachable: return true
        case .none, .usable: return try hasLeftovers()
        case .newer, .busy: return false
        }
    }

    /// True if a copy is there, a recovery that has not ended, or the lock of a process that is at it or died.
    func hasLeftovers() throws(SQLError) -> Bool {
        try SQLError.ofFile(files.copy, "A left-over copy could not be looked for") { _ in
            try [files.copy, files.newBackup, files.recovery, files.lock].contains {
                try Platform.status(ofFile: $0) != nil
            }
        }
    }

    /// Looks at the store again, and renames it where it is damaged.
    ///
    /// - Returns: What was set aside, `nil` where nothing is damaged.
    func setAsideIfDamaged(
        _ check: SQLiteStore.Check,
        _ busyTimeout: Duration,
        toRecover: Bool = false
    ) throws(SQLError) -> SQLiteStore.SetAside? {
        switch try StoreInspection.of(files, check: check, busyTimeout: busyTimeout) {
        case .none, .usable: return nil
        case .newer(let error), .busy(let error), .unreachable(let error): throw error
        case .damaged(let error):
            let isThere = try size() != nil
            if toRecover { try beginRecovery() }
            let path = try moveAside()
            // A start died after it had renamed the store, and before it renamed what lay beside it.
            if !isThere, let earlier = try earlier(isWhole: true) { return earlier }
            return SQLiteStore.SetAside(path: path, storePath: files.store, error: error)
        }
    }

    /// Renames a sound store that no other connection has in use.
    func setAside(_ lockTimeout: Duration) throws(SQLError) -> SQLiteStore.SetAside {
        let db = try SQLiteConnection(path: files.store, .writing, lockTimeout)
        defer { db.close() }
        // "The database connection does not release file-locks at the conclusion of each transaction", and
        // before the first access in WAL mode it means that no other process can have the file open.
        try db.query("PRAGMA locking_mode = EXCLUSIVE")
        try db.query("BEGIN EXCLUSIVE")
        try db.query("ROLLBACK")
        // The connection removes the log when it closes, by a name that could be another store's afterwards.
        db.close()
        return SQLiteStore.SetAside(path: try moveAside(), storePath: files.store, error: nil)
    }

    /// Renames the store and all beside it, and tells the new path.
    func moveAside() throws(SQLError) -> String {
        let path = try freePath()
        // The store first: a log or journal without its store is of no use, a store without
        // them may look whole and lack what was committed.
        for ending in [""] + StoreFiles.sidecarEndings { try move(files.store + ending, to: path + ending) }
        try synchronize()
        return path
    }

    /// True if there is a store with a byte.
    var isThere: Bool { get throws(SQLError) { try (size() ?? 0) > 0 } }

    /// The store that an earlier start set aside and died before another one took its place.
    func unrecovered() throws(SQLError) -> SQLiteStore.SetAside? {
        if try isThere { return nil }
        return try isRecovering() ? earlier() : nil
    }

    private func isRecovering() throws(SQLError) -> Bool {
        try SQLError.ofFile(files.recovery, "The mark of a recovery could not be looked for") {
            try Platform.isThere($0)
        }
    }

    private func beginRecovery() throws(SQLError) {
        if try isRecovering() { return }
        try SQLError.ofFile(files.recovery, "The mark of a recovery could not be made") {
            try Platform.makeFile($0, like: nil)
            try Platform.synchronizeFolder(of: files.store)
        }
    }

    /// Notes that the store is no longer to be recovered from what was set aside: it may be removed one day, and begun anew.
    func endRecovery() throws(SQLError) {
        try SQLError.ofFile(files.recovery, "The mark of a recovery could not be removed") {
            try Platform.removeIfThere($0)
        }
    }

    /// The bytes of the store, `nil` where it is not there.
    private func size() throws(SQLError) -> Int? {
        try SQLError.ofFile(files.store, "The store could not be looked at") {
            try Platform.status(ofFile: $0)?.size
        }
    }

    /// The last of the stores that were set aside, a whole one before what lay beside a missing one.
    private func earlier(isWhole: Bool = false) throws(SQLError) -> SQLiteStore.SetAside? {
        let folder = Platform.folder(of: files.store)
        let names = try SQLError.ofFile(folder, "The folder of the store could not be read") {
            try Platform.status(ofFile: $0) == nil ? [] : Platform.names(inFolder: $0)
        }
        let beginning = FilePaths.last(prefix)
        let newest = names.compactMap { AsideName($0, after: beginning) }
            .filter { $0.isWhole || !isWhole }
            .max { $0.precedes($1) }
        return newest.map {
            SQLiteStore.SetAside(path: prefix + $0.ending, storePath: files.store, error: nil)
        }
    }

    /// A name that nothing has, neither for the store nor beside it.
    private func freePath() throws(SQLError) -> String {
        let time = prefix + Platform.universalTime()
        var path = time
        var number = 1
        while try isTaken(path) {
            number += 1
            path = "\(time)-\(number)"
        }
        return path
    }

    private func isTaken(_ path: String) throws(SQLError) -> Bool {
        try SQLError.ofFile(path, "A name for the damaged store could not be found") {
            try ([$0] + StoreFiles.sidecars(of: $0)).contains { try Platform.status(ofFile: $0) != nil }
        }
    }

    private func move(_ path: String, to new: String) throws(SQLError) {
        try SQLError.ofFile(path, "The damaged store could not be renamed") {
            if try Platform.status(ofFile: $0) != nil { try Platform.replace(new, with: $0) }
        }
    }

    private func synchronize() throws(SQLError) {
        try SQLError.ofFile(
            files.store,
            "The damaged store was renamed, which may not survive a power failure"
        ) { try Platform.synchronizeFolder(of: $0) }
    }
}

/// The end of a name that was given to something set aside.
private struct AsideName {
    /// The time, and the number where two have the same: `20261121T035428Z-2`.
    let ending: String
    /// True if it is the name of the store itself, and not of a file beside it.
    let isWhole: Bool

    private static let form = "00000000T000000Z"

    /// `nil` for what has another form, such as a copy that was made by hand.
    init?(_ name: String, after beginning: String) {
        guard name.utf8.starts(with: beginning.utf8) else { return nil }
        let sidecar = StoreFiles.sidecarEndings.first { name.hasSuffix($0) }
        let bytes = name.utf8.dropFirst(beginning.utf8.count).dropLast(sidecar?.utf8.count ?? 0)
        isWhole = sidecar == nil
        ending = String(decoding: bytes, as: UTF8.self)
        let form = String(ending.map { $0.isASCII && $0.isNumber ? "0" : $0 })
        let number = form.dropFirst(Self.form.count)
        guard form.hasPrefix(Self.form),
            number.isEmpty || number.hasPrefix("-0") && number.dropFirst().allSatisfy({ $0 == "0" })
        else { return nil }
    }

    func precedes(_ other: AsideName) -> Bool {
        if isWhole != other.isWhole { return !isWhole }
        let (time, otherTime) = (ending.prefix(Self.form.count), other.ending.prefix(Self.form.count))
        if time != otherTime { return time < otherTime }
        return (ending.count, ending) < (other.ending.count, other.ending)
    }
}

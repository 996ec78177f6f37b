import AppMigrationsSQLite
import AppMigrationsSchema

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// The commands of a process that a test kills, crowds or gives no rights to.
///
/// - `make <journal mode>`: an old store with a few rows.
/// - `make-left`: the same in WAL mode, as a dead process leaves it: the newest row lies in the log, which is not empty.
/// - `make-damaged-log`: a store that is sound without its log, which holds one more row and the store's damage.
/// - `stage [<extension of the backup>]`: migrates a copy of it.
/// - `stage-as-nobody`: the same as a user without rights.
/// - `stage-without-input`: the same with a descriptor that is free for the first file to be opened.
/// - `stage-without-room <extension>`: the same where no file can grow once the copy is complete.
/// - `old`, `new` with the same extension: finds a store, or the backup of a new one, that is something else.
/// - `whole [<extension>]`: finds a store that is neither old nor new, finishes, and finds what was left.
/// - `write <worker> <keep|open>`: commits rows until some are in the new store, and tells how many.
/// - `status`: what the store is to a user without rights.
/// - `recover [<extension of the backup>]`: opens a damaged store, and says where it was set aside; puts its backup there.
/// - `recovered <path> [<extension>]`: recovers, and finds anything that was lost on the way of the store of which `path` is a
///   copy.
/// - `make-copied <kind>`: an old store as a copy by hand has left it: see StoreCommands+Copied.swift.
/// - `recover-copy <kind> <choice>`: recovers it, and `copied` with the same arguments does it again and finds what was lost.
/// - `die-at-change <number> <command> ...`: runs a command, and dies with that change of the names in the store's folder.
struct StoreCommands {
    let path: String

    struct Unexpected: Error { let what: String }

    func run(_ command: String, _ arguments: [String]) throws {
        switch (command, arguments.count) {
        case ("make", 1): try make(journal: arguments[0])
        case ("make-left", 0):
            try make(journal: "wal")
            try leave("INSERT INTO log(worker, n) VALUES ('left', 1)")
        case ("make-damaged-log", 0):
            try make(journal: "wal")
            // An earlier reader of the schema can do without the table's page, and a later one can't.
            try leave(
                """
                INSERT INTO note VALUES (4, 'only in the log');
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET rootpage = 9999 WHERE name = 'log'
                """
            )
        case ("die-at-change", 2...):
            try die(atChange: Int(arguments[0]) ?? 1, beside: path)
            try run(arguments[1], Array(arguments[2...]))
        case ("stage-as-nobody", 0...1):
            try becomeNobody()
            try run("stage", arguments)
        case ("stage-without-input", 0):
            close(0)
            try stage(arguments) { _ in
                .continue
            } check: {
                var input = stat()
                if fstat(0, &input) == 0, input.st_mode & S_IFMT == S_IFREG {
                    throw Unexpected(what: "a file in place of the standard input")
                }
            }
            say("replaced")
        case ("stage-without-room", 1):
            try stage(arguments) {
                if $0.phase == .replacing { limitFiles() }
                return .continue
            }
        case ("old", 0...1), ("new", 0...1): try check(command, arguments)
        case ("stage", 0...1): say("\(try stage(arguments) ? "replaced" : "unchanged")")
        case ("whole", 0...1): try checkWholeness(arguments)
        case ("write", 2): try write(worker: arguments[0], keepsOpen: arguments[1] == "keep")
        case ("status", 0): try tellStatus()
        case ("recover", 0...1): try recover(arguments.first)
        case ("recovered", 1...2): try checkRecovery(of: arguments[0], arguments.dropFirst().first)
        case ("make-copied", 1): try makeCopied(arguments[0])
        case ("recover-copy", 2):
            try recoverCopy(arguments[0], arguments[1])
            say("recovered")
        case ("copied", 2): try checkCopied(arguments[0], arguments[1])
        default: throw Unexpected(what: "command \(command)")
        }
    }

    func make(journal: String) throws {
        let db = try SQLiteConnection(path: path)
        try db.query("PRAGMA journal_mode = \(journal)")
        try db.query("PRAGMA page_size = 512")
        try db.execute(
            script: """
                BEGIN; CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); CREATE TABLE log(worker, n);
                INSERT INTO note VALUES (1, 'one'), (2, 'three'), (3, ''); COMMIT
                """
        )
    }

    /// Runs statements one by one, and ends without closing the database, so that what they wrote stays in its log.
    private func leave(_ script: String) throws {
        let db = try SQLiteConnection(path: path)
        for statement in script.split(separator: ";") { try db.query(String(statement)) }
        withExtendedLifetime(db) { _exit(0) }
    }

    /// Lets writes fail as on a full disk: "EFBIG" (setrlimit, RLIMIT_FSIZE).
    private func limitFiles() {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 100, rlim_max: 100)
        #if canImport(Darwin)
        let resource = RLIMIT_FSIZE
        #else
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #endif
        if setrlimit(resource, &limit) != 0 { exit(4) }
    }

    /// Three commits: what no transaction of SQLite's would keep together.
    @discardableResult
    private func stage(
        _ arguments: [String],
        progress: (SQLiteStore.Progress) -> SQLiteStore.Answer = { _ in .continue },
        check: () throws -> Void = {}
    ) throws -> Bool {
        try SQLiteStore(path: path).migrateStaged(
            backupExtension: arguments.first,
            progress: progress
        ) { db in
            if try db.userVersion == 2 { return }
            say("migrating")
            try check()
            try db.execute(script: "ALTER TABLE note ADD COLUMN size; ALTER TABLE log ADD COLUMN seen")
            try db.execute(script: "UPDATE note SET size = length(body); UPDATE log SET seen = 1")
            try db.query("PRAGMA user_version = 2")
        }
    }

    private static let old: [[SQLValue]] = [[1, "one"], [2, "three"], [3, ""]]
    private static let new: [[SQLValue]] = [[1, "one", 3], [2, "three", 5], [3, "", 0]]

    /// The age of the database at `path`, as `old` or `new`.
    func age(of path: String) throws -> String {
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        if try db.query("PRAGMA integrity_check") != [["ok"]] { throw Unexpected(what: "damage of \(path)") }
        let version = try db.userVersion
        let rows = try db.query("SELECT * FROM note")
        if version == 0, rows == Self.old { return "old" }
        if version == 2, rows == Self.new { return "new" }
        throw Unexpected(what: "\(path): \(version) \(rows)")
    }

    private func check(_ expected: String, _ arguments: [String]) throws {
        if try age(of: path) != expected { throw Unexpected(what: "a store that is not \(expected)") }
        guard expected == "new", let ending = arguments.first else { return }
        if try age(of: "\(path).\(ending)") != "old" { throw Unexpected(what: "the age of the backup") }
    }

    private func checkWholeness(_ arguments: [String]) throws {
        let found = try age(of: path)
        let isReplaced = try stage(arguments)
        if try age(of: path) != "new" { throw Unexpected(what: "an old store after the second start") }
        if isReplaced != (found == "old") { throw Unexpected(what: "\(found) and replaced: \(isReplaced)") }
        var expected = [""]
        if let ending = arguments.first {
            let backup = ".\(ending)"
            if try age(of: path + backup) != "old" { throw Unexpected(what: "the age of the backup") }
            expected.append(backup)
        }
        let left = try endings().filter { !expected.contains($0) }
        if !left.isEmpty { throw Unexpected(what: "left over: \(left)") }
        say("whole \(found)")
    }

    /// How the names in the folder go on that begin with the store's.
    func endings() throws -> [String] {
        guard let slash = path.lastIndex(of: "/"), let folder = opendir(String(path[..<slash])) else {
            throw Unexpected(what: "no folder")
        }
        defer { closedir(folder) }
        let beginning = path[path.index(after: slash)...]
        var endings = [String]()
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(beginning) { endings.append(String(name.dropFirst(beginning.count))) }
        }
        return endings.sorted()
    }

    private func write(worker: String, keepsOpen: Bool) throws {
        var db: SQLiteConnection?
        var (count, countInNew) = (Int64(0), 0)
        say("begin")
        while countInNew < 10 {
            do {
                let connection = try db ?? SQLiteConnection(path: path, busyTimeout: .seconds(60))
                db = connection
                // Asked before, since the store can be replaced between the row and the question.
                let isNew = try connection.userVersion == 2
                try connection.query(
                    "INSERT INTO log(worker, n) VALUES (?, ?)",
                    [.text(worker), .integer(count)]
                )
                count += 1
                if isNew { countInNew += 1 }
                if !keepsOpen { db = nil }
            } catch let error as SQLError
                where error.extendedResultCode.map({ [5, 8].contains($0 & 0xFF) }) == true
            {
                // Refused, and so not lost: SQLITE_BUSY, or SQLITE_READONLY_DBMOVED of a file that was replaced.
                db = nil
            }
        }
        say("wrote \(count)")
    }

    /// Becomes a user without rights, since those of a file are no obstacle to root.
    private func becomeNobody() throws {
        if geteuid() == 0, setgroups(0, nil) != 0 || setgid(65_534) != 0 || setuid(65_534) != 0 {
            throw Unexpected(what: "setuid")
        }
    }

    private func tellStatus() throws {
        try becomeNobody()
        say("\(try SQLiteStore(path: path).status(target: "CREATE TABLE note(a)"))")
        try tellCode { _ = try SQLiteStore(path: path).setAside() }
        try tellCode { try SQLiteStore(path: path).open { _ in }.close() }
    }

    private func tellCode(_ body: () throws -> Void) throws {
        do {
            try body()
            say("done")
        } catch let error as SQLError {
            say("\(error.code)")
        }
    }

    private func recover(_ backupExtension: String?) throws {
        let db = try SQLiteStore(path: path).open { aside in
            say("set aside \(aside.path)")
            if let backupExtension {
                try copyFile("\(aside.storePath).\(backupExtension)", to: aside.storePath)
            }
        }
        if backupExtension == nil { try db.query("CREATE TABLE IF NOT EXISTS made(a)") }
    }

    /// A start that died may have made an empty store, which is then set aside as well.
    private func checkRecovery(of copy: String, _ backupExtension: String?) throws {
        try recover(backupExtension)
        let endings = ["", "-wal"].filter { bytes(of: copy + $0) != nil }
        let asides = try self.endings().filter { $0.hasPrefix("-corrupt-") }
        let whole = asides.filter { aside in
            endings.allSatisfy { bytes(of: path + aside + $0) == bytes(of: copy + $0) }
        }
        if whole.count != 1 { throw Unexpected(what: "the damaged store is not there as it was: \(asides)") }
        if backupExtension != nil {
            if try age(of: path) != "old" { throw Unexpected(what: "the backup is not in the store's place") }
        } else {
            let names = try SQLiteConnection(path: path).query("SELECT name FROM sqlite_master")
            if names != [["made"]] { throw Unexpected(what: "schema") }
        }
        say("whole recovered")
    }

    private func copyFile(_ source: String, to target: String) throws {
        guard let bytes = bytes(of: source) else { throw Unexpected(what: "no backup") }
        guard let file = fopen(target, "wx") else { throw Unexpected(what: "no place for the backup") }
        defer { fclose(file) }
        if fwrite(bytes, 1, bytes.count, file) != bytes.count { throw Unexpected(what: "no whole backup") }
    }

    /// What a file holds; `nil` where there is none.
    func bytes(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8]()
        var byte = getc(file)
        while byte != EOF {
            bytes.append(UInt8(byte))
            byte = getc(file)
        }
        return bytes
    }
}

import AppMigrationsSQLite
import AppMigrationsSchema

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// The commands on a store that was copied by hand, in a copy that was interrupted.
///
/// The newest row of the backup is only in its log. The kinds:
///
/// - `log`: the log is at the name of a store without a byte.
/// - `half`: the store is a new one with half of the rows, and has a log of its own.
/// - `damaged`: the store and its log are no database.
/// - `unclear`: the log is at the store's name and deletes a row, so that it can be another store's.
extension StoreCommands {
    private var backup: String { path + "_bak" }

    /// Makes the files, and ends without closing them, so that their logs stay.
    func makeCopied(_ kind: String) throws {
        try StoreCommands(path: backup).make(journal: "wal")
        let old = try SQLiteConnection(path: backup)
        try old.query("INSERT INTO log(worker, n) VALUES ('first', 0)")
        try old.query("PRAGMA wal_checkpoint(TRUNCATE)")
        let newest =
            kind == "unclear" ? "DELETE FROM log" : "INSERT INTO log(worker, n) VALUES ('left', 1)"
        try old.query(newest)
        var new: SQLiteConnection?
        switch kind {
        case "log", "unclear":
            if kind == "log" { try write("", to: path) }
            try move(backup + "-wal", to: path + "-wal")
        case "half":
            let half = try SQLiteConnection(path: path)
            try half.query("PRAGMA journal_mode = wal")
            try half.execute(
                script: "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, size); CREATE TABLE half(a)"
            )
            try half.query("INSERT INTO note VALUES (1, 'one', 3)")
            new = half
        case "damaged":
            for ending in ["", "-wal"] { try write("damage\(ending)", to: path + ending) }
        default: throw Unexpected(what: "kind \(kind)")
        }
        withExtendedLifetime((old, new)) { _exit(0) }
    }

    func recoverCopy(_ kind: String, _ choice: String) throws {
        try InterruptedStoreCopy(of: path).recover(
            choosing: choice == "store" ? .store : .backup,
            log: kind == "unclear" ? .backup : nil
        )
    }

    /// Recovers again, as the next start does, and finds what was lost.
    func checkCopied(_ kind: String, _ choice: String) throws {
        try recoverCopy(kind, choice)
        let endings = try endings()
        // The index of a log may stay with a store that was set aside after a death.
        let asides = endings.filter { $0.contains("-corrupt-") && !$0.hasSuffix("-shm") }
        // A store that stays the store keeps its own log.
        let own = choice == "store" ? ["", "-wal", "-shm"] : [""]
        let left = endings.filter { !own.contains($0) && !$0.contains("-corrupt-") }
        if !left.isEmpty { throw Unexpected(what: "left over: \(left)") }
        switch choice {
        case "store":
            try checkHalf(path)
            let old = asides.filter { $0.hasPrefix("_bak-corrupt-") && !$0.hasSuffix("-wal") }
            if old.count != 1 { throw Unexpected(what: "the backup is not there as it was: \(asides)") }
            try checkOld(path + old[0], kind)
        default:
            try checkOld(path, kind)
            switch kind {
            case "half":
                let half = asides.filter { !$0.hasSuffix("-wal") }
                if half.count != 1 { throw Unexpected(what: "the half store is not there: \(asides)") }
                try checkHalf(path + half[0])
            case "damaged":
                for text in ["damage", "damage-wal"]
                where !asides.contains(where: { bytes(of: path + $0) == Array(text.utf8) }) {
                    throw Unexpected(what: "\(text) is not there as it was: \(asides)")
                }
            default: break
            }
        }
        say("whole copied")
    }

    private func checkOld(_ path: String, _ kind: String) throws {
        if try age(of: path) != "old" { throw Unexpected(what: "the age of the backup") }
        let rows = try SQLiteConnection(path: path).query("SELECT worker FROM log ORDER BY worker")
        let expected: [[SQLValue]] = kind == "unclear" ? [] : [["first"], ["left"]]
        if rows != expected { throw Unexpected(what: "the newest row: \(rows)") }
    }

    private func checkHalf(_ path: String) throws {
        let rows = try SQLiteConnection(path: path).query("SELECT * FROM note, (SELECT count(*) FROM half)")
        if rows != [[1, "one", 3, 0]] { throw Unexpected(what: "the half store: \(rows)") }
    }

    private func move(_ old: String, to new: String) throws {
        if rename(old, new) != 0 { throw Unexpected(what: "rename") }
    }

    private func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Unexpected(what: path) }
        defer { fclose(file) }
        if fputs(text, file) < 0 { throw Unexpected(what: path) }
    }
}

import AppMigrationsSQLite
import Foundation
import Testing

@Suite(.temporaryDirectory, .serialized) struct SQLMigratorProcessTests {
    let folder = TemporaryDirectory.current.path

    @Test(arguments: ["delete", "wal"])
    func `32 processes that start at once all succeed, and each migration runs once`(journal: String) throws {
        let path = folder + "/db"
        try SQLiteConnection(path: path).query("PRAGMA journal_mode = \(journal)")
        try write("", to: folder + "/gate")
        let gate = open(folder + "/gate", O_RDONLY | O_CLOEXEC)
        defer { close(gate) }
        try #require(flock(gate, LOCK_EX) == 0)
        let starters = try (0..<32).map { _ in try Starter("migrate", path, "20", folder + "/gate") }
        try #require(flock(gate, LOCK_UN) == 0)
        let results = try starters.map { try $0.finish() }
        #expect(results.map(\.status) == Array(repeating: 0, count: 32), "\(results)")
        let begun = results.flatMap(\.lines).filter { $0.hasPrefix("begin") }
        #expect(begun.count == 19)
        #expect(Set(begun).count == 19)
        try expectWhole(path, count: 20)
    }

    @Test(arguments: ["delete", "wal"])
    func `a process that is killed leaves each migration wholly done or not at all`(journal: String) throws {
        // Seven and thirty have no common divisor: thirty rounds kill after each number of lines.
        for round in 0..<Thoroughness.ordinarily(30, everything: 100) {
            let path = "\(folder)/db\(round)"
            try SQLiteConnection(path: path).query("PRAGMA journal_mode = \(journal)")
            // Three lines for each of nine migrations: the kills are spread over all of them.
            try Starter("migrate", path, "10").kill(afterLines: round * 7 % 30)
            if round % 3 == 0 { try Starter("migrate", path, "10").kill(afterLines: 2) }
            try expectWhole(path, count: 10)
        }
    }

    private func expectWhole(_ path: String, count: Int) throws {
        let result = try Starter("verify", path, "\(count)").finish()
        #expect(result.status == 0, "\(path): \(result.lines)")
        #expect(result.lines.last == "whole")
    }
}

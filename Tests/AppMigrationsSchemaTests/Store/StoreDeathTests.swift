#if os(Linux)
import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

/// Processes that die in the first call that changes the names beside a store, in the second, and so on.
///
/// `Tests/Torture/sql-staged-deaths` kills them at every system call.
@Suite(.serialized, .watchdog) struct StoreDeathTests {
    /// A store and the files beside it.
    ///
    /// Each process gets a copy of them. In memory: a kill leaves what was written, whether or not it is on a disk.
    private struct Original {
        let folder: TemporaryDirectory

        var path: String { folder.file("original/store") }

        /// Makes the store by a command of `StandInDatabase`.
        init(_ command: String..., in folder: TemporaryDirectory) throws {
            self.folder = folder
            try folder.makeFolder("original")
            let result = try Starter(["store", command[0], path] + command.dropFirst()).finish()
            #expect(result.status == 0, "\(result.lines)")
        }

        private func copy(_ number: Int) throws -> String {
            let copy = folder.file("\(number)")
            try FileManager.default.copyItem(atPath: folder.file("original"), toPath: copy)
            return copy + "/store"
        }

        /// Runs a command again and again, each time on a new copy.
        ///
        /// Each run dies one change later, until one ends alive. `next` starts the next process, and gets what the dead one had printed.
        ///
        /// - Returns: How many died.
        func deaths(
            _ command: String...,
            next: (_ said: [String], _ path: String) throws -> Void
        ) throws -> Int {
            var died = 0
            while true {
                let path = try copy(died)
                let result = try Starter(["store", "die-at-change", path, "\(died + 1)"] + command).finish()
                try next(result.lines, path)
                if result.status == 0 { return died }
                #expect(result.status == SIGKILL, "\(result.lines)")
                died += 1
            }
        }
    }

    @Test func `a store that is set aside keeps its log, which holds a committed row, and the app is told`()
        throws
    {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { folder in
            let original = try Original("make-damaged-log", in: folder)
            #expect(try SQLiteStore(path: original.path).status(target: "").text == "damaged 11")
            let deaths = try original.deaths("recover") { said, path in
                let next = try Starter("store", "recovered", path, original.path).finish()
                #expect(next.lines.last == "whole recovered", "\(next.lines) after \(said)")
                let isTold = (said + next.lines).contains { $0.hasPrefix("set aside ") }
                #expect(isTold, "\(next.lines) after \(said)")
            }
            #expect(deaths > 8)
        }
    }

    @Test(arguments: ["delete", "wal"])
    func `a staged migration leaves an old store, or a new one and its backup`(journal: String) throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { folder in
            let original = try Original("make", journal, in: folder)
            try write("earlier", to: original.path + ".bak")
            let deaths = try original.deaths("stage", "bak") { said, path in
                let next = try Starter("store", "whole", path, "bak").finish()
                #expect(next.lines.last?.hasPrefix("whole ") == true, "\(next.lines) after \(said)")
            }
            #expect(deaths > 8)
        }
    }
}
#endif

import Foundation
import Testing

@testable import AppMigrations

/// Two managers and the same protected files: what one records the other must not undo.
@Suite(.temporaryDirectory) struct ProtectedManagerTests {
    let scratch = TemporaryDirectory.current

    /// A manager whose name sorts before that of `Library`, and one that comes after it.
    static let names = ["Index", "Zoo"]

    static func other(
        _ scratch: TemporaryDirectory,
        _ name: String,
        _ options: MigrationManager.Options = .init()
    ) throws(MigrationError) -> MigrationManager {
        try MigrationManager(
            named: name,
            currentVersion: "1.1",
            firstRun: .everything,
            stateDirectory: scratch.state.path,
            options: options
        )
    }

    /// The error of another manager on a thread of its own; `nil` if it ran.
    private static func meet(_ scratch: TemporaryDirectory, _ name: String, protecting path: String)
        -> String?
    {
        let log = Log()
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do throws(MigrationError) {
                let manager = try other(scratch, name)
                try manager.whenMigrating(toVersion: "1.1", protecting: [path]) {
                    try scratch.write("v2", to: path)
                }
            } catch {
                log.add("\(error.code) \(error.isTransient ? "for now" : "until someone acts"): \(error)")
            }
            ended.signal()
        }
        ended.wait()
        // A list that was removed hinders nobody, and a refused attempt leaves no trace in the state.
        #expect(!scratch.exists("state/\(name).migrations.snapshot"))
        #expect(interrupted(scratch, name) == false)
        return log.lines.first
    }

    private static func interrupted(_ scratch: TemporaryDirectory, _ name: String) -> Bool? {
        do { return try scratch.read("state/\(name).migrations.json").contains("interruption") } catch {
            return nil
        }
    }

    /// Expects the refusal of a manager that may not protect a path that `Library` has listed.
    private static func expectRefused(_ error: String?, _ path: String) {
        let reason =
            "manager \"Library\" protects \(path) too, and its migration is running. The migration was not run and no file was "
            + "changed. Create a new manager after the other migration has ended."
        #expect(error?.hasPrefix("protectionFailed for now: ") == true, "\(error ?? "It ran.")")
        #expect(error?.contains(reason) == true, "\(error ?? "It ran.")")
    }

    /// Its files would be partly those from before its migration, in the copy of the other.
    @Test(arguments: names)
    func `a manager whose whole life would fit into the copying of another is refused`(
        name: String
    ) throws {
        for number in 0..<9 { try scratch.write("v1", to: "data/\(number)") }
        let path = try scratch.resolved("data")
        let met = Log()
        let options = MigrationManager.Options { event in
            guard event.kind == .progressed, met.lines.isEmpty else { return }
            met.add(Self.meet(scratch, name, protecting: path + "/5") ?? "It ran.")
        }
        try scratch.expectPutBack(protecting: [path], options: options, change: {})
        #expect(met.lines.count == 1)
        Self.expectRefused(met.lines.first, path)
        #expect(try scratch.read("data/5") == "v1")
        #expect(Self.meet(scratch, name, protecting: path + "/5") == nil)
        _ = try scratch.fail(protecting: [path], change: {})
        #expect(try scratch.read("data/5") == "v2")
    }

    #if os(Linux)
    /// Of two managers that look first and list then, neither finds the other.
    @Test(arguments: names)
    func `the others' lists are looked at once the own one is there`(name: String) throws {
        for file in ["data", "other"] { try scratch.write("old", to: file) }
        let watch = try FolderWatch()
        try Self.other(scratch, name).whenMigrating(toVersion: "1.1", protecting: [scratch.file("other")]) {
            try watch.add(scratch.state.path)
            try watch.add(scratch.file("state/\(name).migrations.snapshot"))
            try scratch.migrate(protecting: "data")
        }
        let own = "new Library.migrations.snapshot"
        let steps = try watch.events().filter { [own, "open list"].contains($0) }
        #expect(steps.first == own)
        #expect(steps.contains("open list"))
    }

    /// A list that is found free was let go by a closure that has ended: the state says now whether the files are to be put back.
    ///
    /// A state that is read before that may be the one of a closure that was about to begin.
    @Test func `the state of another manager is read after the lock of its list`() throws {
        try scratch.write("old", to: "data")
        let copies = scratch.file("state/Index.migrations.snapshot")
        let away = scratch.file("away")
        try Self.other(scratch, "Index").whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
            try FileManager.default.copyItem(atPath: copies, toPath: away)
        }
        try FileManager.default.moveItem(atPath: away, toPath: copies)
        let watch = try FolderWatch()
        for folder in [scratch.state.path, copies] { try watch.add(folder) }
        try scratch.migrate(protecting: "data")
        let steps = try watch.events().filter { ["open Index.migrations.json", "open list"].contains($0) }
        #expect(steps == ["open list", "open Index.migrations.json"])
    }
    #endif

    /// The list's lock ends with the closure, and then the state says that the files may be put back.
    @Test(arguments: names, ["returned", "recorded"])
    func `the list counts until the files are back, or the migration is recorded`(
        name: String,
        moment: String
    ) throws {
        let path = try scratch.resolved(FilePaths.last(scratch.write("v1", to: "data")))
        let met = Log()
        let hook = Rehearsal(
            reached: {
                if moment == "recorded", $0.place == .beforeRecord {
                    met.add(Self.meet(scratch, name, protecting: path) ?? "It ran.")
                }
            },
            returned: {
                if moment == "recorded" { return nil }
                met.add(Self.meet(scratch, name, protecting: path) ?? "It ran.")
                return Refusal()
            }
        )
        let manager = MigrationManager(rehearsing: try scratch.manager(upgradingTo: "1.1"), with: hook)
        do { try manager.whenMigrating(toVersion: "1.1", protecting: [path]) {} } catch {}
        #expect(met.lines.count == 1)
        Self.expectRefused(met.lines.first, path)
        #expect(Self.meet(scratch, name, protecting: path) == nil)
        #expect(try scratch.read("data") == "v2")
    }

    @Test(arguments: ["data/file", "data", ""], names + ["Library.migrations.snapshot"])
    func `files that a closure protects can't be protected by another manager inside it`(
        place: String,
        name: String
    ) throws {
        try scratch.write("old", to: "top/data/file")
        let path = scratch.file("top" + (place.isEmpty ? "" : "/" + place))
        let inner = try Self.other(scratch, name)
        try scratch.migrate(protecting: "top/data") {
            let error = try inner.refusal(protecting: path)
            let reason =
                "manager \"Library\" protects \(try scratch.resolved("top/data")) too, and its migration is running"
            #expect(error.description.contains(reason), "\(error)")
            #expect(error.isTransient)
        }
        try Self.other(scratch, name).whenMigrating(toVersion: "1.1", protecting: [path]) {}
    }

    /// A hard link to a file, and the files that SQLite keeps beside a database, whether they are there or not.
    @Test(
        arguments: names,
        [("db", "other/name"), ("db", "db-wal"), ("db-wal", "db"), ("db", "db-journal"), ("db-shm", "db")]
    )
    func `the same file under another name is found`(name: String, files: (String, String)) throws {
        try scratch.write("old", to: "db")
        try scratch.write("old", to: "db-wal")
        try scratch.makeFolder("other")
        try #require(link(scratch.file("db"), scratch.file("other/name")) == 0)
        let inner = try Self.other(scratch, name)
        try scratch.migrate(protecting: files.0) {
            let error = try inner.refusal(protecting: scratch.file(files.1))
            #expect(error.description.contains("manager \"Library\" protects"), "\(error)")
        }
    }

    @Test(arguments: names)
    func `other files can be protected inside`(name: String) throws {
        try scratch.write("old", to: "data")
        try scratch.write("old", to: "database")
        let inner = try Self.other(scratch, name)
        try scratch.migrate(protecting: "data") {
            try inner.whenMigrating(toVersion: "1.1", protecting: [scratch.file("database")]) {}
        }
        #expect(inner.lastRunVersion.description == "1.1")
    }

    /// Each of them may find the other's list, so both may be refused; never do both run at once.
    @Test func `of two managers that list the same file at once at most one runs at a time`() throws {
        try scratch.write("old", to: "data")
        for _ in 0..<20 {
            let running = Guarded<Int>(0)
            let errors = Log()
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                do throws(MigrationError) {
                    try Self.other(scratch, Self.names[index])
                        .whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                            let count = running.withLock { count in
                                count += 1
                                return count
                            }
                            #expect(count == 1)
                            running.withLock { $0 -= 1 }
                        }
                } catch {
                    if error.code != .protectionFailed { errors.add("\(error)") }
                }
            }
            #expect(errors.lines == [])
            for name in Self.names {
                try Self.other(scratch, name).whenMigrating(
                    toVersion: "1.1",
                    protecting: [scratch.file("data")]
                ) {}
            }
            try scratch.remove("state")
        }
    }

    @Test(arguments: names, [false, true])
    func `files that wait to be put back can't be protected before`(name: String, isAbandoned: Bool)
        async throws
    {
        try scratch.write("old\n", to: "data")
        let inner = try Self.other(scratch, name)
        await ProtectedPathTests.die(in: scratch)
        let error = try inner.refusal(protecting: scratch.file("data"))
        let wayOut = "create that manager first, or abandon its restore with"
        #expect(error.description.contains(wayOut), "\(error)")
        // Trying again helps only once somebody has made that manager or given its files up.
        #expect(!error.isTransient)
        if isAbandoned {
            _ = try MigrationManager.abandonRestore(named: "Library", stateDirectory: scratch.state.path)
        } else {
            _ = try scratch.manager(upgradingTo: "1.1")
        }
        try Self.other(scratch, name).whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
            () throws in
            #expect(try scratch.read("data") == (isAbandoned ? "old\nchanged\n" : "old\n"))
        }
    }

    @Test(arguments: names)
    func `a list that a killed copy left is ignored`(name: String) async throws {
        try scratch.write("old", to: "data")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let hook = Rehearsal(reached: { if $0.place == .afterCopying { die() } })
            let manager = MigrationManager(rehearsing: try library("1.1", in: path + "/state"), with: hook)
            try manager.whenMigrating(toVersion: "1.1", protecting: [path + "/data"]) {}
        }
        #expect(scratch.exists(scratch.state.snapshot + "/list"))
        try Self.other(scratch, name).whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {}
    }

    /// Nobody can tell which files a damaged list means.
    @Test(
        arguments: ["list 999", "1\0Library\0/\01.2\0../data\0" + "99999999999999999999\0\0"],
        [false, true]
    )
    func `another manager's damaged list refuses files while its state asks for the copies`(
        text: String,
        isWaiting: Bool
    ) async throws {
        try scratch.write("old\n", to: "data")
        let inner = try Self.other(scratch, "Zoo")
        await ProtectedPathTests.die(in: scratch)
        try Data(text.utf8).write(to: URL(filePath: scratch.state.snapshot + "/list"))
        if isWaiting {
            let error = try inner.refusal(protecting: scratch.file("else"))
            #expect(
                error.description.contains("manager \"Library\" protects files, and its list is damaged"),
                "\(error)"
            )
        } else {
            let state = try scratch.read("state/Library.migrations.json")
            try scratch.write(
                state.replacingOccurrences(of: "\"isProtecting\" : true", with: "\"isProtecting\" : false"),
                to: "state/Library.migrations.json"
            )
            try inner.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {}
        }
    }

    @Test func `another manager's state that can't be read protects its files`() async throws {
        try scratch.write("old\n", to: "data")
        let inner = try Self.other(scratch, "Zoo")
        await ProtectedPathTests.die(in: scratch)
        try scratch.write("{", to: "state/Library.migrations.json")
        let error = try inner.refusal(protecting: scratch.file("data"))
        #expect(error.description.contains("Library.migrations.json"), "\(error)")
        try Self.other(scratch, "Zoo").whenMigrating(toVersion: "1.1", protecting: [scratch.file("else")]) {}
    }
}

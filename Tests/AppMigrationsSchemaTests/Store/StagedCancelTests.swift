import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct StagedCancelTests {
    let folder = TemporaryDirectory.current.path

    typealias Phase = SQLiteStore.Progress.Phase

    /// Large enough that each copy has several steps.
    private func largeStore(_ journal: String) throws -> SQLiteStore {
        let store = try Wreck.store(journal: journal)
        let db = try SQLiteConnection(path: store.path)
        defer { db.close() }
        try db.execute(
            script: """
                CREATE TABLE blobs(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
                INSERT INTO blobs SELECT zeroblob(100000) FROM n
                """
        )
        return store
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `progress tells the phases in order, and the pages of each`(journal: String) throws {
        let store = try largeStore(journal)
        var told = [SQLiteStore.Progress]()
        try store.migrateStaged(backupExtension: "bak") {
            told.append($0)
            return .continue
        } body: {
            try $0.query("DELETE FROM note")
        }
        var phases = [Phase]()
        for progress in told where phases.last != progress.phase { phases.append(progress.phase) }
        #expect(phases == [.copying, .migrating, .checking, .backingUp, .replacing])
        let pages = told.filter { $0.phase == .copying }.map(\.completedPages)
        #expect(pages.count > 2)
        #expect(pages == pages.sorted())
        #expect(pages.first == 0)
        let total = told.filter { $0.phase == .copying }.map(\.totalPages)
        #expect(Set(total.dropFirst()).count == 1)
        #expect(told.allSatisfy { $0.completedPages <= $0.totalPages })
        let fractions = told.map(\.fraction)
        #expect(fractions == fractions.sorted())
        #expect(Set(fractions).isSuperset(of: [0, 0.2, 0.5, 0.7, 0.8]))
        #expect(fractions.contains { $0 > 0 && $0 < 0.2 } && fractions.last == 1)
    }

    static let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)"

    @Test(arguments: [Phase.migrating, .checking], [false, true])
    func `a statement of the body and the check tell how much was read, and end where the answer says so`(
        phase: Phase,
        cancels: Bool
    ) throws {
        let store = try largeStore("wal")
        let body = { (copy: SQLiteConnection) in
            let insert = "INSERT INTO note(body) SELECT 'x' FROM n"
            let rows = phase == .checking ? insert : "SELECT max(i) FROM n"
            // The error of a statement that was ended is no reason to go on.
            do { try copy.query("\(Self.long) \(rows)") } catch { #expect(cancels) }
            try copy.query("SELECT sum(length(a)) FROM blobs")
        }
        var told = [SQLiteStore.Progress]()
        let migrate = {
            try store.migrateStaged { progress in
                if progress.phase == phase { told.append(progress) }
                return cancels && progress.phase == phase && told.count == 3 ? .cancel : .continue
            } body: {
                try body($0)
            }
        }
        if cancels {
            #expect(try sqlError { try migrate() }.code == .stopped)
            #expect(told.count == 3)
            #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 500)
            #expect(try StagedMigrationTests.names(beside: store) == ["store"])
        } else {
            _ = try migrate()
            #expect(told.count > 3)
            #expect(told.allSatisfy { $0.completedPages <= $0.totalPages })
            let fractions = told.map(\.fraction)
            #expect(fractions == fractions.sorted())
            if phase == .checking { #expect(try #require(told.last).completedPages > 0) }
        }
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `whenever it is cancelled, the old store is there to the last row`(journal: String) throws {
        let store = try largeStore(journal)
        var calls = 0
        func migrate(cancellingAt limit: Int) throws {
            calls = 0
            try store.migrateStaged(backupExtension: "bak") { _ in
                calls += 1
                return calls == limit ? .cancel : .continue
            } body: {
                try $0.query("DELETE FROM note")
            }
        }
        var limit = 1
        while true {
            let error: SQLError
            do {
                try migrate(cancellingAt: limit)
                break
            } catch let thrown as SQLError { error = thrown }
            #expect(error.code == .stopped)
            #expect(error.message == "The progress closure answered .cancel")
            #expect(calls == limit)
            #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 500)
            let left = try StagedMigrationTests.names(beside: store).filter { $0 != "store.bak" }
            #expect(left == ["store"])
            limit += 1
        }
        // Nothing is left to end at the last call.
        #expect(limit == calls)
        #expect(limit > 6)
        #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 0)
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `a task that is cancelled leaves the old store`(journal: String) async throws {
        let store = try Wreck.store(journal: journal)
        let task = Task {
            try store.migrateStaged { progress in
                if progress.phase == .replacing { withUnsafeCurrentTask { $0?.cancel() } }
                return .continue
            } body: {
                try $0.query("DELETE FROM note")
            }
        }
        let error = try await #require(throws: SQLError.self) { try await task.value }
        #expect(error.code == .cancelled)
        #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 500)
        #expect(try StagedMigrationTests.names(beside: store) == ["store"])
    }

    @Test func `what the check finds keeps the copy from the store's place`() throws {
        let store = try Wreck.store()
        let orphan = try sqlError {
            try store.migrateStaged {
                try $0.execute(script: "CREATE TABLE tag(note REFERENCES note); INSERT INTO tag VALUES (0)")
            }
        }
        #expect(orphan.code == .foreignKeyViolation)
        #expect(
            orphan.message
                == "This would leave rows that refer to missing rows: tag (rowid 1) refers to a missing row of note"
        )
        let broken = try sqlError {
            try store.migrateStaged {
                try $0.query("PRAGMA writable_schema = ON")
                try $0.query("UPDATE sqlite_master SET rootpage = 3 WHERE name = 'note'")
            }
        }
        #expect(broken.code == .damaged)
        #expect(
            broken.message.hasPrefix("The migrated copy is damaged, so it did not replace the store: ")
        )
        let open = try sqlError { try store.migrateStaged { try $0.query("BEGIN IMMEDIATE") } }
        #expect(open.message == "The migration left a transaction open. The store was not replaced")
        #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 500)
        #expect(try StagedMigrationTests.names(beside: store) == ["store"])
    }

    @Test(arguments: [
        "", "a/b", "migrating", "Migrating-wal", "migrating-backup", "migrating-Backup-shm", "migrating-lock",
        "Recovering", "a\0", "bak-wal", "BAK-SHM", "bak-journal",
    ])
    func `a backup has a name of its own`(ending: String) throws {
        let store = try Wreck.store()
        let error = try sqlError {
            try store.migrateStaged(backupExtension: ending) { _ in Issue.record("run") }
        }
        #expect(
            error.message
                == "\"\(ending)\" cannot be the extension of a backup. The migration was not run. Use an extension such as bak"
        )
    }

    @Test(arguments: ["migrating-old", "migrated", "recovering-old"])
    func `a backup's name may be like that of a temporary file`(ending: String) throws {
        let store = try Wreck.store()
        #expect(try store.migrateStaged(backupExtension: ending) { try $0.query("DELETE FROM note") })
        let names = try StagedMigrationTests.names(beside: store)
        #expect(names == ["store", "store.\(ending)"])
    }

    @Test func `the files' errors name the file`() throws {
        let path = folder + "/store"
        try TemporaryDirectory.current.makeFolder("store.migrating")
        let error = try sqlError { try SQLiteStore(path: path).migrateStaged { _ in } }
        #expect(error.code == .fileFailure)
        #expect(error.path == path + ".migrating")
        #expect(error.message.hasPrefix("A leftover file could not be removed: "))
        #expect(error.message.contains(" (unlink, errno "))
    }
}

@Suite(.temporaryDirectory, .serialized) struct StagedProcessTests {
    let folder = TemporaryDirectory.current.path

    private static let ways = [("delete", "keep"), ("wal", "keep"), ("delete", "open"), ("wal", "open")]

    @Test(arguments: ways)
    func `two processes that write all the while lose no committed row`(
        journal: String,
        connection: String
    ) throws {
        // In memory: on a slow disk the writers have the store locked nearly all the time, and the migration waits for a gap.
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { folder in
            let path = folder.file("store")
            #expect(try Starter("store", "make", path, journal).finish().status == 0)
            let writers = try ["a", "b"].map { try Starter("store", "write", path, $0, connection) }
            // They write until they see the new store.
            defer { for writer in writers { writer.kill() } }
            for writer in writers { try writer.waitForLine() }
            let stager = try Starter("store", "stage", path, "bak").finish()
            try #require(stager.lines.last == "replaced", "\(stager.lines)")
            let counts = try writers.map { try $0.finish() }
            let db = try SQLiteConnection(path: path)
            defer { db.close() }
            for (worker, result) in zip(["a", "b"], counts) {
                #expect(result.status == 0, "\(result.lines)")
                let rows = try db.query(
                    "SELECT count(*), count(DISTINCT n) FROM log WHERE worker = ?",
                    [.text(worker)]
                )
                guard case .integer(let count) = rows[0][0] else { continue }
                #expect(rows[0][0] == rows[0][1])
                #expect(result.lines.last == "wrote \(count)", "\(worker)")
            }
            // All rows of the time before are in the new shape, none of those after.
            #expect(try db.query("SELECT count(*) >= 20 FROM log WHERE seen IS NULL") == [[1]])
            #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
        }
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `eight starters at once replace the store once`(journal: String) throws {
        let path = folder + "/store"
        #expect(try Starter("store", "make", path, journal).finish().status == 0)
        let results = try (0..<8).map { _ in try Starter("store", "stage", path, "bak") }
            .map { try $0.finish() }
        #expect(results.map(\.status) == Array(repeating: 0, count: 8), "\(results)")
        #expect(results.filter { $0.lines == ["migrating", "replaced"] }.count == 1)
        #expect(results.filter { $0.lines == ["unchanged"] }.count == 7)
        #expect(try Starter("store", "whole", path, "bak").finish().lines.last == "whole new")
    }

    @Test func `eight starters at once set a damaged store aside once`() throws {
        let path = folder + "/store"
        for ending in ["", "-wal"] {
            try write("damage\(ending)", to: path + ending)
            try write("damage\(ending)", to: folder + "/original" + ending)
        }
        let results = try (0..<8).map { _ in try Starter("store", "recover", path) }.map { try $0.finish() }
        #expect(results.map(\.status) == Array(repeating: 0, count: 8), "\(results)")
        #expect(results.flatMap(\.lines).count == 1, "\(results)")
        let next = try Starter("store", "recovered", path, folder + "/original").finish()
        #expect(next.lines.last == "whole recovered", "\(next.lines)")
    }
}

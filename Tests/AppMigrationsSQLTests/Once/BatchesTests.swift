import AppMigrations
import Testing

@testable import AppMigrationsSQL
@testable import AppMigrationsSQLite

@Suite(.temporaryDirectory) struct BatchesTests {
    let library: Library

    init() throws { library = try Library() }

    @Test func `each batch gets the cursor of the one before it, and none runs after the last`() throws {
        let manager = try library.manager()
        var cursors = [String?]()
        let ran = try manager.batches { db, batch, context throws in
            #expect(context.attempt == 1)
            #expect(context.version == AppVersion("1.4"))
            #expect(try db.isInTransaction)
            cursors.append(batch.cursor)
            return cursors.count < 3 ? .continue(at: cursors.count) : .done
        }
        #expect(ran)
        #expect(cursors == [nil, "1", "2"])
        #expect(try library.rows == [["Library", "1.4"]])
        #expect(try library.cursors == [[nil]])
        #expect(manager.manager.lastRunVersion == AppVersion("1.4"))
        try manager.manager.reset(to: "1.0")
        #expect(try !library.manager().batches { _, _, _ in throw Failure() })
    }

    @Test func `batches of a version that a hotfix brought run once, below the last-run version`() throws {
        #expect(try library.manager(current: "1.5").manager.whenMigrating(toVersion: "1.5") {})
        for isFirst in [true, false] {
            let manager = try library.manager(current: "1.5").manager
            let ran = try manager.whenMigrating(toVersion: "1.4", addedIn: "1.5", in: library.db) {
                _,
                _,
                _ in
                .done
            }
            #expect(ran == isFirst)
            #expect(manager.lastRunVersion == AppVersion("1.5"))
        }
        #expect(try library.rows == [["Library", "1.4"]])
    }

    @Test func `a cursor is read as the type that wrote it, and another text is an error`() throws {
        let batch = MigrationBatch(cursor: "7", version: try AppVersion(parsing: "1.4"))
        #expect(try batch.cursor(as: Int64.self) == 7)
        #expect(try batch.cursor(as: String.self) == "7")
        #expect(try MigrationBatch(cursor: nil, version: batch.version).cursor(as: Int.self) == nil)
        let error = try sqlError { try batch.cursor(as: Bool.self) }
        #expect(error.code == .invalidCursor)
        #expect(
            error.description
                == "The cursor \"7\" of version 1.4 can't be read as Bool. The batch was rolled back, and the batches"
                + " before it stay. Correct the closure."
        )
    }

    @Test(arguments: [false, true])
    func `a batch that throws is rolled back, and the next start goes on behind those before it`(
        isBorrowed: Bool
    ) throws {
        let db = isBorrowed ? library.db.borrowed : library.db
        let error = library.count(to: 5, in: db, failingAt: 3)
        #expect(error?.code == .migrationFailed)
        #expect(error?.underlyingError is Failure)
        #expect(try library.log == [["1"], ["2"]])
        #expect(try library.cursors == [["2"]])
        #expect(try library.count(to: 5, in: db))
        #expect(try library.log == [["1"], ["2"], ["3"], ["4"], ["5"]])
    }

    @Test func `a cancelled task ends between two batches, and the next start goes on there`() async throws {
        // A borrowed connection doesn't know of the cancellation, and the second batch saves no checkpoint.
        let task = Task {
            try library.manager().manager.whenMigrating(toVersion: "1.4", in: library.db.borrowed) {
                db,
                batch,
                _ in
                let number = try (batch.cursor(as: Int.self) ?? 0) + 1
                if number == 2 { withUnsafeCurrentTask { $0?.cancel() } }
                return number == 5 ? .done : .continue(at: number)
            }
        }
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try library.cursors == [["2"]])
        #expect(try library.count(to: 5))
        #expect(try library.log == [["3"], ["4"], ["5"]])
    }

    @Test func `a batch that ends where it began is an error instead of a loop without end`() throws {
        let manager = try library.manager()
        let error = #expect(throws: MigrationError.self) {
            try manager.batches { _, _, _ in .continue(at: "7") }
        }
        let cause = error?.underlyingError as? SQLError
        #expect(cause?.code == .invalidCursor)
        #expect(cause?.message == "A batch of version 1.4 ended at the cursor at which it began, \"7\"")
    }

    @Test func `a cursor that only looks like the one before it is another place`() throws {
        let titles = ["Caf\u{E9}", "Cafe\u{301}", "", "a\u{0}b", "\"\\\n\u{2028}\u{FFFF}"]
        var cursors = [[UInt8]]()
        try library.manager().batches { _, batch, _ in
            cursors.append(batch.cursor.map { Array($0.utf8) } ?? [])
            return cursors.count > titles.count ? .done : .continue(at: titles[cursors.count - 1])
        }
        #expect(cursors == [[]] + titles.map { Array($0.utf8) })
    }

    @Test(arguments: ["SELECT sum(x) FROM c", "INSERT INTO log SELECT x FROM c"], [false, true])
    func `a cancelled task ends in a statement of a closure, which is no failure`(
        statement: String,
        isBatch: Bool
    ) async throws {
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \(statement)"
        let task = Task {
            let work = { (db: SQLiteConnection) throws in
                withUnsafeCurrentTask { $0?.cancel() }
                try db.query(endless)
            }
            guard isBatch else { return try library.manager().whenMigrating(toVersion: "1.4", run: work) }
            return try library.manager().batches { db, _, _ in
                try work(db)
                return .done
            }
        }
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try library.count(to: 2))
        #expect(try library.log == [["1"], ["2"]])
    }

    @Test(arguments: [(4_096, nil), (4_097, SQLError.Code.invalidCursor)])
    func `a cursor has a limit`(bytes: Int, code: SQLError.Code?) throws {
        let long = String(repeating: "é", count: bytes / 2) + String(repeating: "e", count: bytes % 2)
        var cause: SQLError?
        do {
            try library.manager().batches { _, batch, _ in batch.cursor == nil ? .continue(at: long) : .done }
        } catch let error as MigrationError { cause = error.underlyingError as? SQLError }
        #expect(cause?.code == code)
        if let cause {
            #expect(
                cause.message
                    == "A batch of version 1.4 ended at a cursor of 4097 bytes, and at most 4096 are allowed"
            )
            #expect(try library.rows.isEmpty)
        }
    }

    @Test(
        arguments: [["COMMIT"], ["ROLLBACK"], ["COMMIT", "BEGIN"], ["ROLLBACK", "BEGIN"]],
        [false, true]
    )
    func `a batch that ends its transaction writes no cursor, also where it begins another`(
        statements: [String],
        isBorrowed: Bool
    ) throws {
        let db = isBorrowed ? library.db.borrowed : library.db
        let error = #expect(throws: MigrationError.self) {
            try library.manager().manager.whenMigrating(toVersion: "1.4", in: db) { db, _, _ in
                for statement in statements { try db.query(statement) }
                return .continue(at: 1)
            }
        }
        #expect((error?.underlyingError as? SQLError)?.code == .transactionEnded)
        #expect(try library.rows.isEmpty)
        #expect(try !library.db.isInTransaction)
    }

    @Test func `progress is told after the commit`() throws {
        let log = Guarded([String]())
        let other = try SQLiteConnection(path: library.folder + "/db")
        let manager = try library.manager { event in
            guard event.kind == .progressed, let fraction = event.fraction else { return }
            let cursor = try? other.query("SELECT cursor FROM app_migrations").first?.first
            log.withLock { $0.append("\(fraction) \(cursor ?? .null)") }
        }
        try library.count(to: 3, in: library.db, manager: manager)
        #expect(log.withLock { $0 } == ["0.25 '1'", "0.5 '2'"])
    }

    @Test func `foreign keys stay as they are, and a batch that breaks them is refused`() throws {
        try library.db.execute(
            script: """
                PRAGMA foreign_keys = ON;
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(parent REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED);
                """
        )
        let error = #expect(throws: MigrationError.self) {
            try library.manager().batches { db, batch, _ throws in
                #expect(try db.query("PRAGMA foreign_keys") == [[1]])
                try db.query("INSERT INTO child VALUES (?)", [batch.cursor == nil ? nil : 7])
                return batch.cursor == nil ? .continue(at: 1) : .done
            }
        }
        #expect((error?.underlyingError as? SQLError)?.extendedResultCode == 787)
        #expect(try library.db.query("SELECT parent FROM child") == [[nil]])
        #expect(try library.cursors == [["1"]])
    }
}

import AppMigrations
import AppMigrationsSQLite
import Testing

extension LibraryManager {
    /// Runs batches up to 1.4.
    @discardableResult
    func batches(
        _ batches: (SQLiteConnection, MigrationBatch, MigrationContext) throws -> MigrationBatch.Outcome
    ) throws -> Bool {
        try manager.whenMigrating(toVersion: "1.4", in: db, batches: batches)
    }
}

extension Library {
    /// Logs the numbers from 1 on, one a batch.
    @discardableResult
    func count(to last: Int, _ body: (Int) throws -> Void = { _ in }) throws -> Bool {
        try count(to: last, in: db, body)
    }

    @discardableResult
    func count<Connection: SQLConnection>(
        to last: Int,
        in db: Connection,
        manager: LibraryManager? = nil,
        _ body: (Int) throws -> Void = { _ in }
    ) throws -> Bool {
        let manager = try manager ?? self.manager()
        return try manager.manager.whenMigrating(toVersion: "1.4", in: db) { db, batch, _ in
            let number = try (batch.cursor(as: Int.self) ?? 0) + 1
            try db.query("INSERT INTO log VALUES (?)", [.text("\(number)")])
            try body(number)
            if number == last { return .done }
            return .continue(at: number, progress: Double(number) / Double(last + 1))
        }
    }

    /// Counts, and fails in one batch, which is rolled back.
    @discardableResult
    func count<Connection: SQLConnection>(to last: Int, in db: Connection, failingAt batch: Int)
        -> MigrationError?
    {
        #expect(throws: MigrationError.self) {
            try count(to: last, in: db) { if $0 == batch { throw Failure() } }
        }
    }

    @discardableResult
    func count(to last: Int, failingAt batch: Int) -> MigrationError? {
        count(to: last, in: db, failingAt: batch)
    }

    var cursors: [[SQLValue]] { get throws { try db.query("SELECT cursor FROM app_migrations") } }
}

import AppMigrations
import AppMigrationsSQLite
import Testing

/// A closure that ends the transaction in which its row would be written.
@Suite(.temporaryDirectory) struct EndedTransactionTests {
    /// How a closure ends its transaction: by queries or a script, behind and before which writes, on whose connection.
    struct Way: CustomTestStringConvertible, Sendable {
        let isScript: Bool
        let writes: [String]
        let isBorrowed: Bool

        var testDescription: String { "\(isScript) \(writes) \(isBorrowed)" }
    }

    private static let writes = [[], ["early"], ["late"], ["early", "late"]]

    private static let ways = [false, true].flatMap { isScript in
        writes.flatMap { writes in
            [false, true].map { Way(isScript: isScript, writes: writes, isBorrowed: $0) }
        }
    }

    private static let ends = [
        ["COMMIT"], ["END"], ["END TRANSACTION"], ["ROLLBACK"], ["COMMIT", "BEGIN"],
        ["END", "BEGIN IMMEDIATE"], ["ROLLBACK", "BEGIN"], ["COMMIT", "BEGIN", "SAVEPOINT mine"],
    ]

    let library: Library

    init() throws {
        library = try Library()
        #expect(try library.manager().add("1.3"))
    }

    @Test(arguments: ends, ways)
    func `a closure that ends its transaction fails and is not recorded, and says what may be committed`(
        ends: [String],
        way: Way
    ) throws {
        let db = way.isBorrowed ? library.db.borrowed : library.db
        let error = #expect(throws: MigrationError.self) {
            try library.manager().manager.whenMigrating(toVersion: "1.4", in: db) { db, _ in
                func write(_ text: String) throws {
                    if way.writes.contains(text) { try db.query("INSERT INTO log VALUES (?)", [.text(text)]) }
                }
                try write("early")
                if way.isScript {
                    try db.execute(script: ends.joined(separator: ";"))
                } else {
                    for end in ends { try db.query(end) }
                }
                try write("late")
            }
        }
        let cause = error?.underlyingError as? SQLError
        #expect(cause?.message.hasSuffix("may have been committed, and it is not recorded") == !way.isScript)
        #expect(cause?.code == (way.isScript ? .refusedStatement : .transactionEnded))
        #expect(try library.rows == [["Library", "1.3"]])
        #expect(try !library.db.isInTransaction)
        #expect(try library.manager().add("1.4"))
    }
}

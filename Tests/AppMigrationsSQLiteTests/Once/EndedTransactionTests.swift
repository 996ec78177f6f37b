import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// A closure that ends the transaction in which its row would be written.
@Suite struct EndedTransactionTests {
    private static let ends = [
        ["COMMIT"], ["END"], ["END TRANSACTION"], ["ROLLBACK"], ["COMMIT", "BEGIN"],
        ["END", "BEGIN IMMEDIATE"],
        ["ROLLBACK", "BEGIN"], ["COMMIT", "BEGIN", "SAVEPOINT mine"],
    ]

    @Test(arguments: ends, [false, true])
    func `a closure that ends its transaction fails and is not recorded, and says what may be committed`(
        ends: [String],
        isBorrowed: Bool
    ) throws {
        for isScript in [false, true] {
            for writes in [false, true] {
                try withLibrary { library throws in
                    #expect(try library.manager().add("1.3"))
                    let db = isBorrowed ? library.db.borrowed : library.db
                    let error = #expect(throws: MigrationError.self) {
                        try library.manager().manager.whenMigrating(toVersion: "1.4", in: db) { db in
                            if writes { try db.query("INSERT INTO log VALUES ('early')") }
                            if isScript {
                                try db.execute(script: ends.joined(separator: ";"))
                            } else {
                                for end in ends { try db.query(end) }
                            }
                            try db.query("INSERT INTO log VALUES ('late')")
                        }
                    }
                    let cause = error?.underlyingError as? SQLError
                    #expect(cause?.code == (isScript ? .refusedStatement : .transactionEnded))
                    let mayBeCommitted = cause?.message.hasSuffix(
                        "may have been committed, and it is not recorded"
                    )
                    #expect(mayBeCommitted == !isScript)
                    #expect(try library.rows == [["Library", "1.3"]])
                    #expect(try !library.db.isInTransaction)
                    #expect(try library.manager().add("1.4"))
                }
            }
        }
    }

    @Test(arguments: ends)
    func `on a connection that is awaited, too`(ends: [String]) async throws {
        try await withLibrary { library async throws in
            #expect(try library.manager().add("1.3"))
            let error = await #expect(throws: MigrationError.self) {
                try await library.manager().manager.whenMigrating(
                    toVersion: "1.4",
                    in: AwaitedConnection(library.db)
                ) { db in
                    for end in ends { try await db.query(end) }
                    try await db.query("INSERT INTO log VALUES ('late')")
                }
            }
            #expect((error?.underlyingError as? SQLError)?.code == .transactionEnded)
            #expect(try library.rows == [["Library", "1.3"]])
            #expect(try !library.db.isInTransaction)
            #expect(try library.manager().add("1.4"))
        }
    }
}

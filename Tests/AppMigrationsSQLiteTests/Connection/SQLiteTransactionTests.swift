import AppMigrationsSQLite
import Testing

@Suite struct SQLiteTransactionTests {
    private func database() throws -> SQLiteConnection {
        let db = try memory()
        try db.execute(script: "CREATE TABLE a(x UNIQUE); INSERT INTO a VALUES (1)")
        return db
    }

    @Test func `what a transaction did is committed, and its value returned`() throws {
        let db = try database()
        let value = try db.transaction {
            try db.query("INSERT INTO a VALUES (2)")
            return "done"
        }
        #expect(value == "done")
        #expect(try !db.isInTransaction)
        #expect(try db.query("SELECT count(*) FROM a") == [[2]])
    }

    @Test func `what throws is rolled back, and its error comes out`() throws {
        let db = try database()
        #expect(throws: Failure.self) {
            try db.transaction {
                try db.query("INSERT INTO a VALUES (2)")
                throw Failure()
            }
        }
        #expect(try !db.isInTransaction)
        #expect(try db.query("SELECT count(*) FROM a") == [[1]])
    }

    @Test(arguments: [false, true])
    func `a closure that closes the connection rolls back, and its error comes out`(isNested: Bool) throws {
        try withTemporaryFolder { folder in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.query("CREATE TABLE a(x)")
            func closeAndThrow() throws {
                try db.query("INSERT INTO a VALUES (1)")
                db.close()
                throw Failure()
            }
            #expect(throws: Failure.self) {
                try db.transaction {
                    if isNested { try db.transaction(closeAndThrow) } else { try closeAndThrow() }
                }
            }
            let next = try SQLiteConnection(path: folder + "/db")
            #expect(try next.query("SELECT count(*) FROM a") == [[0]])
        }
    }

    @Test func `a transaction inside another is undone by itself`() throws {
        let db = try database()
        try db.transaction {
            try db.query("INSERT INTO a VALUES (2)")
            #expect(throws: Failure.self) {
                try db.transaction {
                    try db.query("INSERT INTO a VALUES (3)")
                    throw Failure()
                }
            }
            try db.transaction { try db.query("INSERT INTO a VALUES (4)") }
        }
        #expect(try db.query("SELECT x FROM a ORDER BY x") == [[1], [2], [4]])
    }

    @Test(arguments: [true, false])
    func `nothing runs by itself after SQLite ended the transaction, and half is not committed`(
        goesOn: Bool
    ) throws {
        let db = try database()
        let error = try sqlError {
            try db.transaction {
                try db.query("INSERT INTO a VALUES (2)")
                #expect(throws: SQLError.self) { try db.query("INSERT OR ROLLBACK INTO a VALUES (1)") }
                if goesOn { try db.query("INSERT INTO a VALUES (3)") }
            }
        }
        #expect(
            error.description
                == "SQLite ended the transaction after this error: UNIQUE constraint failed: a.x."
                + " Nothing after that point was run. Roll back and begin again."
        )
        #expect(try db.query("SELECT x FROM a") == [[1]])
        try db.transaction { try db.query("INSERT INTO a VALUES (5)") }
        #expect(try db.query("SELECT count(*) FROM a") == [[2]])
    }

    @Test func `a body that commits by itself is told so`() throws {
        let db = try database()
        let error = try sqlError { try db.transaction { try db.query("COMMIT") } }
        #expect(error.code == .transactionEnded)
        try db.query("INSERT INTO a VALUES (2)")
    }

    @Test(arguments: ["ROLLBACK", "rollback;", " ROLLBACK TRANSACTION "])
    func `a rollback by hand acknowledges that SQLite ended the transaction`(rollback: String) throws {
        let db = try database()
        try db.query("BEGIN")
        #expect(throws: SQLError.self) { try db.query("INSERT OR ROLLBACK INTO a VALUES (1)") }
        #expect(try sqlError { try db.query("SELECT 1") }.code == .transactionEnded)
        #expect(try sqlError { try db.query("COMMIT") }.code == .transactionEnded)
        #expect(try sqlError { try db.execute(script: "SELECT 1") }.code == .transactionEnded)
        try db.query(rollback)
        try db.query("INSERT INTO a VALUES (2)")
    }
}

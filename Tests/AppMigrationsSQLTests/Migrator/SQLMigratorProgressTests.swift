import AppMigrationsSQLite
import Testing

@Suite(.watchdog) struct SQLMigratorProgressTests {
    private func migrator(_ transactions: Migrator.Transactions = .eachMigration) throws -> Migrator {
        try Migrator(
            (1...3).map { Migration(version: $0, name: "n\($0)", sql: "CREATE TABLE t\($0)(x)") },
            transactions: transactions
        )
    }

    @Test func `progress tells what is done and how many there are`() throws {
        var told = [String]()
        try migrator().migrate(memory()) {
            told.append("\($0.completed)/\($0.total) \($0.version) \($0.name ?? "")")
            return .continue
        }
        #expect(told == ["1/3 1 n1", "2/3 2 n2", "3/3 3 n3"])
    }

    @Test(
        arguments: [
            (.eachMigration, .stop, [1, 2]), (.eachMigration, .rollBack, [1]),
            (.all, .stop, [1, 2]),
            (.all, .rollBack, []),
        ] as [(Migrator.Transactions, SQLMigrationProgress.Answer, [Int64])]
    )
    func `an answer decides what stays, and the rest is still pending`(
        transactions: Migrator.Transactions,
        answer: SQLMigrationProgress.Answer,
        kept: [Int64]
    ) throws {
        let db = try memory(foreignKeys: true)
        let migrator = try migrator(transactions)
        let error = try sqlError { try migrator.migrate(db) { $0.version == 2 ? answer : .continue } }
        #expect(error.code == .stopped)
        #expect(error.applied == kept)
        #expect(error.message == "The progress closure answered .\(answer)")
        #expect(try migrator.status(db).applied == kept)
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try migrator.migrate(db).applied == (1...3).filter { !kept.contains($0) })
    }

    @Test(
        arguments: [(SQLMigrationProgress.Answer.stop, [1, 2]), (.rollBack, [1])]
            as [(SQLMigrationProgress.Answer, [Int64])]
    )
    func `an answer decides inside a transaction, too`(answer: SQLMigrationProgress.Answer, kept: [Int64])
        throws
    {
        let db = try memory()
        try db.query("BEGIN")
        let error = try sqlError {
            try migrator().migrate(db, insideTransaction: true) { $0.version == 2 ? answer : .continue }
        }
        #expect(error.applied == kept)
        try db.query("COMMIT")
        #expect(try ledger(of: db) == kept)
    }

    @Test(arguments: [nil, SQLMigrationProgress.Answer.stop, .rollBack])
    func `a closure reports how far it is, and ends where the answer is not to continue`(
        answer: SQLMigrationProgress.Answer?
    ) throws {
        let migrator = try Migrator([
            Migration(version: 1, sql: "CREATE TABLE t(x)"),
            Migration(version: 2) { db, report in
                try db.query("INSERT INTO t VALUES (1)")
                for done in [-1, 0.25, .nan, 7] { try report(done) }
            },
        ])
        let db = try memory()
        var told = [String]()
        let migrate = {
            try migrator.migrate(db) { step in
                told.append("\(step.completed)/\(step.total) \(step.version) \(step.fraction)")
                return step.fraction == 0.25 ? answer ?? .continue : .continue
            }
        }
        guard let answer else {
            #expect(try migrate().applied == [1, 2])
            #expect(told == ["1/2 1 1.0", "1/2 2 0.0", "1/2 2 0.25", "1/2 2 0.0", "1/2 2 1.0", "2/2 2 1.0"])
            return
        }
        let error = try sqlError { try migrate() }
        #expect(error.code == .stopped)
        #expect(error.message == "The progress closure answered .\(answer)")
        #expect(error.applied == [1])
        #expect(try db.query("SELECT * FROM t") == [])
    }

    @Test func `a closure that is awaited reports how far it is`() async throws {
        let migration = AwaitedMigration(version: 1) { db, report in
            try await db.query("CREATE TABLE t(x)")
            try report(0.5)
        }
        var told = [Double]()
        let db = AwaitedConnection(try memory())
        try await AwaitedMigrator([migration]).migrate(db) {
            told.append($0.fraction)
            return .continue
        }
        #expect(told == [0.5, 1])
    }

    @Test func `stopping after the last one is no error`() throws {
        let report = try migrator().migrate(memory()) { $0.version == 3 ? .stop : .continue }
        #expect(report.applied == [1, 2, 3])
    }

    @Test(
        arguments: [(Migrator.Transactions.eachMigration, [1]), (.all, [])]
            as [(Migrator.Transactions, [Int64])]
    )
    func `a cancelled task stops between migrations`(transactions: Migrator.Transactions, kept: [Int64])
        async throws
    {
        let db = try memory()
        let migrator = try migrator(transactions)
        let error = try await Task {
            try sqlError {
                try migrator.migrate(db) { _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return .continue
                }
            }
        }.value
        #expect(error.code == .cancelled)
        #expect(error.applied == kept)
        #expect(try migrator.status(db).applied == kept)
    }

    @Test(arguments: [false, true])
    func `a cancelled task ends a statement, and a closure that reports`(reports: Bool) async throws {
        let db = try memory()
        let migrator = try Migrator([
            Migration(version: 1, sql: "CREATE TABLE a(x)"),
            Migration(version: 2) { db, report in
                try db.query("INSERT INTO a VALUES (1)")
                withUnsafeCurrentTask { $0?.cancel() }
                if reports { return try report(0.5) }
                try db.execute(
                    script: """
                        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) INSERT INTO a SELECT x FROM n
                        """
                )
            },
        ])
        let error = try await Task { try sqlError { try migrator.migrate(db) } }.value
        #expect(error.code == .cancelled)
        #expect(error.version == 2)
        let end =
            "Applied before the failure and kept: 1. Migrations that were not applied run at the next start."
        #expect(error.description.hasSuffix(end))
        #expect(try db.query("SELECT count(*) FROM a") == [[0]])
        #expect(try !db.isInTransaction)
    }
}

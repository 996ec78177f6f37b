import AppMigrationsSQL
import Testing

/// How long a script waits for a table, and the pauses in which others use it.
@Suite struct TableLockTriesTests {
    /// All waits and pauses, in order and in milliseconds.
    private func times(within lockTimeout: Duration) -> [Int] {
        var tries = TableLockTries(within: lockTimeout)
        var times = [tries.wait]
        while let pause = tries.pauseAfterTry() { times += [pause, tries.wait] }
        return times.map { Int($0 / .milliseconds(1)) }
    }

    @Test(
        arguments: [
            (.milliseconds(300), [300]),
            (.seconds(1), [1_000]),
            (.milliseconds(2_100), [1_000, 100, 1_000]),
            (.seconds(10), [1_000, 1_000, 1_000, 2_000, 1_000, 3_000, 1_000]),
            (
                .seconds(40),
                [
                    1_000, 1_000, 1_000, 2_000, 1_000, 4_000, 1_000, 8_000, 1_000, 8_000, 1_000, 8_000, 1_000,
                    1_000,
                    1_000,
                ]
            ),
        ] as [(Duration, [Int])]
    )
    func `no try is longer than a second, and the pauses grow up to eight`(
        lockTimeout: Duration,
        expected: [Int]
    ) {
        #expect(times(within: lockTimeout) == expected)
        #expect(expected.reduce(0, +) == Int(lockTimeout / .milliseconds(1)))
    }

    /// The statements of a script about locks and pauses; the table is locked for the first `failures` tries.
    private func statements(
        failures: Int,
        sharesTransaction: Bool = false,
        insideTransaction: Bool = false
    ) -> (statements: [String], told: Int, error: SQLError?) {
        let db = LockedPostgres(failures: failures)
        let session = LockedPostgres.dialect.makeSession(SQLConversation(db))
        var told = 0
        let lock = SQLLockWait(.seconds(10)) { told += 1 }
        func run() throws(SQLError) {
            try session.run(script: Self.oneTry[2], sharesTransaction: sharesTransaction)
        }
        do throws(SQLError) {
            if insideTransaction {
                try session.join(lock)
                try run()
            } else {
                try session.transaction(lock, run)
            }
        } catch { return (db.recorded, told, error) }
        return (db.recorded, told, nil)
    }

    private static let oneTry = [
        "SAVEPOINT app_migrations_guard", "SET LOCAL lock_timeout = 1001",
        "ALTER TABLE people ADD COLUMN born INT",
    ]
    private static let back = [
        "ROLLBACK TO SAVEPOINT app_migrations_guard", "RELEASE SAVEPOINT app_migrations_guard",
    ]
    private static let end = ["SET LOCAL lock_timeout = 10001", "RELEASE SAVEPOINT app_migrations_guard"]

    @Test func `a script that can't have a table lets others use it before each further try`() {
        let (statements, told, error) = statements(failures: 2)
        #expect(error == nil && told == 2)
        let pause = ["SELECT pg_sleep(1000 / 1000.0)::text"]
        let expected = [
            Self.oneTry, Self.back, pause, Self.oneTry, Self.back, pause, pause, Self.oneTry, Self.end,
        ]
        #expect(statements == expected.flatMap(\.self))
    }

    @Test func `the tries end with the lock timeout`() {
        let (statements, told, error) = statements(failures: .max)
        #expect(error?.code == .busy && told == 3)
        #expect(statements.count { $0 == Self.oneTry[2] } == 4)
        #expect(statements.count { $0.hasPrefix("SELECT pg_sleep") } == 6)
    }

    @Test(arguments: [(true, false), (false, true)])
    func `there is one try in a transaction that other migrations share, or that is the caller's`(
        sharesTransaction: Bool,
        insideTransaction: Bool
    ) {
        let (statements, told, error) = statements(
            failures: 1,
            sharesTransaction: sharesTransaction,
            insideTransaction: insideTransaction
        )
        #expect(error?.code == .busy && told == 0)
        #expect(statements.count { $0.hasPrefix("ALTER") } == 1)
        #expect(!statements.contains(Self.oneTry[1]))
    }
}

/// A server on which another session has the lock of a table.
private final class LockedPostgres: SQLConnection {
    static var dialect: SQLDialect { .postgres }

    private struct Locked: Error {}

    private(set) var recorded = [String]()
    private var failures: Int

    init(failures: Int) { self.failures = failures }

    static func serverError(from error: any Error) -> ServerError? {
        guard error is Locked else { return nil }
        return ServerError(message: "canceling statement due to lock timeout", sqlState: "55P03")
    }

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        let isAboutLocks = ["SAVEPOINT", "RELEASE", "ROLLBACK TO", "SET LOCAL", "SELECT pg_sleep", "ALTER"]
            .contains { sql.hasPrefix($0) }
        if isAboutLocks { recorded.append(sql) }
        if sql.hasPrefix("ALTER"), failures > 0 {
            failures -= 1
            throw Locked()
        }
        return sql.contains("pg_try_advisory_xact_lock") ? [[1]] : []
    }

    func execute(script: String) throws { recorded.append(script) }
}

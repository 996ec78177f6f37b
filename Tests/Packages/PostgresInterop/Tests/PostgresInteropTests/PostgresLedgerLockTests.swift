import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

/// The lock of each ledger, and the one under which new ledgers are made.
@Suite struct PostgresLedgerLockTests {
    private let one = [Migration(version: 1, sql: "SELECT 1")]
    private let two = [Migration(version: 1, sql: "SELECT 1"), Migration(version: 2, sql: "SELECT 2")]

    private func migrate(_ migrations: [Migration], ledger: String, on db: PostgresConnection) throws
        -> [Int64]
    {
        try Migrator(migrations, ledger: ledger, lockTimeout: .milliseconds(20)).migrate(db).applied
    }

    /// Hands over a connection in a transaction that has the lock of a ledger, and another one.
    private func withHolder(
        of ledger: String,
        _ body: (_ process: String, _ other: PostgresConnection) throws -> Void
    ) throws {
        try withConnection { db, info in
            let other = try PostgresConnection(info)
            for made in ["mine", "yours"] { #expect(try migrate(one, ledger: made, on: other) == [1]) }
            guard case .text(let process) = try db.query("SELECT pg_backend_pid()::text")[0][0] else {
                throw CocoaError(.fileReadUnknown)
            }
            try db.query("BEGIN")
            try Migrator(two, ledger: ledger).migrate(db, insideTransaction: true)
            try body(process, other)
        }
    }

    @Test func `two services with ledgers of their own don't wait for each other`() throws {
        try withHolder(of: "mine") { _, other throws in
            #expect(try migrate(two, ledger: "yours", on: other) == [2])
            #expect(try migrate(one, ledger: "new", on: other) == [1])
        }
    }

    @Test(arguments: ["mine", "public.mine"])
    func `the error of a wait for a ledger names who has its lock, however it is named`(_ name: String) throws
    {
        try withHolder(of: "mine") { process, other in
            for isInside in [false, true] {
                if isInside { try other.query("BEGIN") }
                let error = try #require(throws: SQLError.self) {
                    try Migrator(two, ledger: name, lockTimeout: .milliseconds(20)).migrate(
                        other,
                        insideTransaction: isInside
                    )
                }
                #expect(error.code == .busy)
                let holder =
                    "; the lock of the ledger public.mine is held by the server's process \(process) for 127.0.0.1"
                #expect(error.message == "canceling statement due to lock timeout" + holder, "\(error)")
            }
        }
    }

    @Test func `ledgers of one name in two schemas have a lock each`() throws {
        try withHolder(of: "mine") { _, other throws in
            try other.query("CREATE SCHEMA elsewhere")
            #expect(try migrate(one, ledger: "elsewhere.mine", on: other) == [1])
            #expect(try migrate(two, ledger: "elsewhere.mine", on: other) == [2])
        }
    }

    @Test func `new ledgers are made under one lock, and who has waited for it sees the ledger`() throws {
        try withHolder(of: "new") { process, other in
            let error = try #require(throws: SQLError.self) {
                try Migrator(one, ledger: "newer", lockTimeout: .milliseconds(20)).migrate(other)
            }
            #expect(error.code == .busy)
            let holder =
                "; the lock under which new ledgers are made is held by the server's process \(process) for 127.0.0.1"
            #expect(error.message.hasSuffix(holder), "\(error)")
            #expect(try migrate(two, ledger: "yours", on: other) == [2])
        }
    }
}

import AppMigrations
import AppMigrationsSQLite
import Foundation
import SQLTestSupport
import TestSupport
import Testing

@testable import AppMigrationsSQL

/// What a gate and the user of an app are told after an error of a database.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct UserAdviceTests {
    let folder = TemporaryDirectory.current.path

    private static func error(_ code: SQLError.Code, result: Int32? = nil, because cause: (any Error)? = nil)
        -> SQLError
    {
        SQLError(code, "It failed").with {
            $0.extendedResultCode = result
            $0.underlyingError = cause
        }
    }

    @Test(
        arguments: [
            (error(.cancelled), .continueLater), (error(.stopped), .continueLater),
            (error(.busy), .waitForOtherProcess),
            (error(.diskFull, result: 13), .makeRoom), (error(.statementFailed, result: 4_874), .makeRoom),
            (error(.readOnly, result: 8), .makeWritable), (error(.readOnly, result: 1_544), .makeWritable),
            (error(.statementFailed, result: 3), .makeWritable),
            // A server's disk is no disk of a user, and its role no file of a user.
            (error(.diskFull), .sendDetails), (error(.readOnly), .sendDetails),
            (error(.readOnly, result: 264), .sendDetails), (error(.damaged, result: 11), .sendDetails),
            (error(.migrationFailed, because: CocoaError(.fileWriteNoPermission)), .makeWritable),
            (error(.migrationFailed, because: POSIXError(.EDQUOT)), .makeRoom),
            (error(.migrationFailed, because: MigrationGate.RequiresUnlock()), .unlockDevice),
            (error(.migrationFailed, because: CancellationError()), .continueLater),
            (error(.transactionEnded, because: error(.busy)), .waitForOtherProcess),
        ] as [(SQLError, MigrationAdvice)]
    )
    func `an error of a database has an advice, also below an error of a manager`(
        error: SQLError,
        advice: MigrationAdvice
    ) {
        #expect(MigrationAdvice(after: error) == advice)
        let failure = MigrationError(code: .migrationFailed, underlyingError: error)
        #expect(MigrationAdvice(after: failure) == (advice == .sendDetails ? .tryAgain : advice))
    }

    @Test func `a database that counts further than the app belongs to a newer release`() throws {
        let db = try SQLiteConnection(path: ":memory:")
        let migrator = try SQLiteMigrator([SQLMigration(version: 1, sql: "CREATE TABLE t(a)")])
        let newer = #expect(throws: SQLError.self) { try migrator.markApplied(upTo: 2, in: db) }
        #expect(MigrationAdvice(after: try #require(newer)) == .updateApp)
        // Here the number is the app's own.
        let mistaken = #expect(throws: SQLError.self) { try migrator.migrate(db, to: 2) }
        #expect(MigrationAdvice(after: try #require(mistaken)) == .sendDetails)
    }

    @Test func `a file that this user may not open asks for permissions`() async {
        await #expect(processExitsWith: .success) { [path = folder + "/db" as String] in
            try SQLiteConnection(path: path).query("CREATE TABLE t(a)")
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
            // Root may open each file.
            if geteuid() == 0 { try #require(setgid(65_534) == 0 && setuid(65_534) == 0) }
            let error = #expect(throws: SQLError.self) { try SQLiteConnection(path: path) }
            #expect(MigrationAdvice(after: try #require(error)) == .makeWritable)
            #expect((error?.underlyingError as? SystemCallError)?.errorNumber == EACCES)
        }
    }

    @Test func `a missing folder asks for no permissions`() throws {
        let error = #expect(throws: SQLError.self) { try SQLiteConnection(path: folder + "/none/db") }
        #expect(MigrationAdvice(after: try #require(error)) == .sendDetails)
        #expect((error?.underlyingError as? SystemCallError)?.errorNumber == ENOENT)
    }

    @Test func `a gate that is cancelled in a migration of a database is cancelled`() async throws {
        let gates = AsyncStream<MigrationGate>.makeStream()
        let gate = MigrationGate { [folder] _ in
            let db = try SQLiteConnection(path: folder + "/db")
            let migrations = [
                SQLiteMigration(version: 1, sql: "CREATE TABLE t(a)"),
                SQLiteMigration(version: 2, sql: "CREATE TABLE u(a)"),
            ]
            for await gate in gates.stream { gate.cancel() }
            try SQLiteMigrator(migrations).migrate(db)
        }
        gates.continuation.yield(gate)
        gates.continuation.finish()
        let error = await #expect(throws: SQLError.self) { try await gate.ready() }
        #expect(error?.code == .cancelled)
        guard case .cancelled = gate.state else {
            Issue.record("The state is \(gate.state).")
            return
        }
    }
}

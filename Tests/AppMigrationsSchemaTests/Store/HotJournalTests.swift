import Foundation
import SQLTestSupport
import TestSupport
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// A rollback journal without its database, which SQLite would roll back or not.
@Suite(.temporaryDirectory) struct HotJournalTests {
    struct Journal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isHot: Bool
        /// Makes the journal of the database at a path.
        let make: @Sendable (String) throws -> Data

        init(_ description: String, isHot: Bool = false, _ make: @escaping @Sendable (String) throws -> Data)
        {
            testDescription = description
            self.isHot = isHot
            self.make = make
        }
    }

    /// The journal of a database of 500 notes in the middle of a transaction.
    private static func journal(_ path: String, pragma: String) throws -> Data {
        try Wreck.makeStore(path)
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        try db.query("PRAGMA \(pragma)")
        try db.query("BEGIN")
        try db.query("UPDATE note SET body = 'half'")
        return try Wreck.bytes(path + "-journal")
    }

    /// With little memory, SQLite writes pages to the database before the end of the transaction.
    private static func hotJournal(_ path: String) throws -> Data {
        try journal(path, pragma: "cache_size = 1")
    }

    static let journals = [
        Journal("pages were written to the database", isHot: true) { try hotJournal($0) },
        Journal("nothing is synced", isHot: true) { try journal($0, pragma: "synchronous = OFF") },
        Journal("nothing was written to the database") { try journal($0, pragma: "cache_size = -20000") },
        Journal("513 bytes", isHot: true) { try hotJournal($0).prefix(513) },
        Journal("512 bytes") { try hotJournal($0).prefix(512) },
        Journal("a few bytes") { try hotJournal($0).prefix(19) },
        Journal("another beginning") { try Data([1]) + hotJournal($0).dropFirst() },
        Journal("a beginning with another end") {
            let data = try hotJournal($0)
            return data.prefix(7) + Data([1]) + data.dropFirst(8)
        },
        Journal("the end of a commit") {
            try Wreck.makeStore($0, journal: "persist")
            let data = try Wreck.bytes($0 + "-journal")
            try #require(data.count > 512)
            return data
        },
        Journal("a database that is being made") {
            let db = try SQLiteConnection(path: $0)
            defer { db.close() }
            try db.query("PRAGMA cache_size = 1")
            try db.query("BEGIN")
            try db.execute(script: "CREATE TABLE note(a); INSERT INTO note VALUES (zeroblob(100000))")
            return try Wreck.bytes($0 + "-journal")
        },
    ]

    private func make(_ journal: Journal, at path: String) throws {
        let data = try journal.make(TemporaryDirectory.current.file("living"))
        try data.write(to: URL(filePath: path))
    }

    @Test(arguments: journals)
    func `a missing store is damaged only if its journal would be rolled back`(journal: Journal) throws {
        let store = SQLiteStore(path: TemporaryDirectory.current.file("store"))
        try make(journal, at: store.path + "-journal")
        let status = try store.status(target: Wreck.target)
        switch status {
        case .damaged(let error):
            #expect(journal.isHot)
            #expect(error.message == "The file is missing, but its rollback journal is not")
        default:
            #expect(!journal.isHot)
            #expect(status.text == "missing")
        }
    }

    @Test(arguments: journals)
    func `a journal may belong to a backup only if it would be rolled back`(journal: Journal) throws {
        let store = TemporaryDirectory.current.file("store")
        try Wreck.makeStore(store + "_bak")
        try make(journal, at: store + "-journal")
        let state = try InterruptedStoreCopy(of: store).state(check: .off)
        #expect(state == (journal.isHot ? .unclearLog : .backupOnly))
    }
}

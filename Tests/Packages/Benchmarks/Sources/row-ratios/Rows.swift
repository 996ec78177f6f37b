import AppMigrationsRows
import CMeasure
import Foundation
import GRDB
import Measuring

/// GRDB has the name `SQLiteConnection`, too.
typealias Connection = AppMigrationsSQLite.SQLiteConnection

/// A row of five columns, which GRDB reads and writes by its `Codable` conformance alone.
struct Reading: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "reading"

    var id: Int
    var station: String
    var temperature: Double
    var note: String?
    var isChecked: Bool

    init(_ number: Int) {
        id = number
        station = "station \(number % 1_000)"
        temperature = Double(number % 500) / 10
        note = number % 3 == 0 ? nil : "measured by hand, \(number)"
        isChecked = number % 2 == 0
    }

    static let table = """
        CREATE TABLE reading(
            id INTEGER PRIMARY KEY, station TEXT NOT NULL, temperature REAL NOT NULL, note TEXT, isChecked INTEGER NOT NULL
        )
        """
}

enum RowError: Error {
    case wrongRows
    case unknownKind(String)
}

/// The nanoseconds of one measurement in a process of its own, so that neither side inherits the other's memory.
func sample(_ kind: String, _ path: String, _ count: Int) throws -> Double {
    switch kind {
    case "fetch-ours":
        let db = try Connection(path: path)
        var rows: [Reading] = []
        let time = try nanoseconds { rows = try db.fetch(Reading.self, "SELECT * FROM reading") }
        return try checked(rows, count, time)
    case "fetch-grdb":
        let queue = try DatabaseQueue(path: path)
        var rows: [Reading] = []
        let time = try queue.read { db in
            try nanoseconds { rows = try Reading.fetchAll(db, sql: "SELECT * FROM reading") }
        }
        return try checked(rows, count, time)
    case "insert-ours":
        let rows = (1...count).map(Reading.init)
        let db = try Connection(path: ":memory:")
        try db.query(Reading.table)
        let time = try nanoseconds { try db.insert(rows, into: "reading") }
        if try db.fetch(Int.self, "SELECT count(*) FROM reading") != [count] { throw RowError.wrongRows }
        return time
    case "insert-grdb":
        let rows = (1...count).map(Reading.init)
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: Reading.table) }
        return try nanoseconds { try queue.write { db in for row in rows { try row.insert(db) } } }
    default: throw RowError.unknownKind(kind)
    }
}

private func checked(_ rows: [Reading], _ count: Int, _ time: Double) throws -> Double {
    guard rows.count == count, rows.last?.id == count, rows.last?.note == Reading(count).note else {
        throw RowError.wrongRows
    }
    return time
}

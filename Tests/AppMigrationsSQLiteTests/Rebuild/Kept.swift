import AppMigrationsSQLite
import Testing

/// What is kept when a table is rebuilt: one row for each fact.
struct Kept: Sendable, CustomTestStringConvertible {
    let fact: String
    let before: String
    var table = "t"
    let createTable: String
    var values: [String: String] = [:]
    var dropping: [String] = []
    var then = ""
    let query: String
    let rows: [[SQLValue]]

    var testDescription: String { fact }
}

import AppMigrationsSQLite
import Testing

/// A rebuild that is refused, and the words of the refusal.
struct Refusal: Sendable, CustomTestStringConvertible {
    var before = "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (NULL, 3)"
    var table = "t"
    var createTable = "CREATE TABLE t(a, b)"
    var values: [String: String] = [:]
    var dropping: [String] = []
    let reason: String
    /// The last sentences of a refusal that changed nothing; an error of SQLite's own has none.
    var advice: String?

    var message: String {
        "Rebuilding the table \(table): \(reason)" + (advice.map { ". Nothing was changed. \($0)" } ?? "")
    }

    var testDescription: String { message }
}

/// A fact that outlives the rebuild of its table.
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

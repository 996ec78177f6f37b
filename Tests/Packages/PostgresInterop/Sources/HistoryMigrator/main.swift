// A start of an app that has numbered files: sqlite|postgres <database> <folder> [<name>=<value> …]. It migrates, and prints each
// version before it is committed, and what the report and the status say as one line of JSON.
//
//     to=<version>        migrates to this version only
//     dies=<version>      is killed when this version has run and isn't committed
//     edited=refused      refuses files that were edited after they were applied
//     looks=yes           only asks for the status

import AppMigrationsSQL
import AppMigrationsSQLite
import Glibc
import PostgresConnection

guard CommandLine.arguments.count >= 4 else { throw HistoryError.usage }
var settings = [String: String]()
for argument in CommandLine.arguments.dropFirst(4) {
    let parts = argument.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else { throw HistoryError.usage }
    settings[String(parts[0])] = String(parts[1])
}
let database = CommandLine.arguments[2]
let history = History(folder: CommandLine.arguments[3], settings: settings)

do {
    switch CommandLine.arguments[1] {
    case "sqlite": try history.migrate(SQLiteConnection(path: database))
    case "postgres":
        // As PostgresNIO has it: the library splits a script, and the server gets one statement at a time.
        try await history.migrate(AsyncPostgresConnection(database, cells: .binary))
    default: throw HistoryError.usage
    }
} catch let error as SQLError {
    say("error \(error.code) \(error)")
    exit(1)
}

enum HistoryError: Error {
    case usage
}

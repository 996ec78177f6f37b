import AppMigrationsSQLite
import Foundation

// The samples of "Rows inside migrations", as they stand there.

func splittingNames() -> SQLMigration<SQLiteConnection> {
    let splitNames = SQLMigration<SQLiteConnection>(
        version: 21,
        name: "split_names"
    ) { db in
        struct OldPerson: Decodable {
            var id: Int
            var name: String
            var born: Date?
        }
        struct NewPerson: Encodable {
            var id: Int
            var given: String
            var family: String?
            var born: Date?
        }
        try db.execute(
            script: """
                CREATE TABLE new_person (
                    id INTEGER PRIMARY KEY, given TEXT NOT NULL,
                    family TEXT, born REAL
                )
                """
        )
        let people = try db.fetch(
            OldPerson.self,
            "SELECT id, name, born FROM person"
        ).map { person in
            let words = person.name.split(separator: " ", maxSplits: 1)
                .map(String.init)
            return NewPerson(
                id: person.id,
                given: words.first ?? "",
                family: words.count > 1 ? words[1] : nil,
                born: person.born
            )
        }
        try db.insert(people, into: "new_person")
        try db.execute(
            script: """
                DROP TABLE person;
                ALTER TABLE new_person RENAME TO person;
                """
        )
    }
    return splitNames
}

func oneColumn(_ db: SQLiteConnection) throws -> ([Int], [String]) {
    let orphans = try db.fetch(
        Int.self,
        """
        SELECT id FROM note
        WHERE folder NOT IN (SELECT id FROM folder)
        """
    )
    let known = try db.fetch(
        String.self,
        "SELECT name FROM tag WHERE folder = ?",
        [.integer(7)]
    )
    return (orphans, known)
}

func coloringNotes(before limit: Date, in folder: Int, _ db: SQLiteConnection) throws {
    func shade(of title: String) -> String { title.isEmpty ? "grey" : "blue" }
    let old = """
        SELECT id, title, color FROM note
        WHERE created < ? AND folder = ?
        """
    for row in try db.query(
        old,
        [SQLValue(encoding: limit), SQLValue(folder)]
    ) {
        let id = try row[0].value(as: Int.self)
        let title = try row[1].value(as: String.self)
        let color = try row[2].value(as: String?.self)
        let hue = SQLValue(color ?? shade(of: title))
        try db.query(
            "UPDATE note SET hue = ? WHERE id = ?",
            [hue, SQLValue(id)]
        )
    }
}

func deletingNotes(before limit: Date, _ db: SQLiteConnection) throws {
    try db.query("DELETE FROM note WHERE created < ?", [SQLValue(encoding: limit)])
}

func readingNotes(_ db: SQLiteConnection) throws -> [Note] {
    var notes: [Note] = []
    for row in try db.query("SELECT id, title, color FROM note") {
        let id = try row[0].value(as: Int.self)
        let title = try row[1].value(as: String.self)
        let color = try row[2].value(as: String?.self)
        notes.append(Note(id: id, title: title, color: color))
    }
    return notes
}

struct Note: Equatable {
    let id: Int
    let title: String
    let color: String?
}

func updatingCountries(_ countries: [Country], _ db: SQLiteConnection) throws {
    try db.insert(
        countries,
        into: "country",
        onConflict: .update(keepingIfNull: ["nickname"])
    )
}

struct Country: Encodable {
    var code: String
    var name: String
    var nickname: String?
}

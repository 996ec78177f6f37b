import AppMigrationsSQLite
import Foundation

/// The database with the notes, since release 2.0.
struct NotesDatabase {
    static let file = "notes.sqlite"

    /// The schemas, with the numbers of the migrations that make them.
    enum Schema: Int64 {
        case first = 1
        case tagsOnce = 2
        case colors = 3
    }

    private let db: SQLiteConnection
    private let path: String

    init(path: String, readOnly: Bool = false) throws {
        self.path = path
        db = try SQLiteConnection(path: path, readOnly: readOnly)
    }

    /// Migrates the schema to a number, with one transaction for each migration.
    func migrate(to schema: Schema) throws {
        let folder = try SampleData.resource("Migrations").path(percentEncoded: false)
        let migrator = try SQLiteMigrator(SQLiteMigration.files(in: folder) + [Self.colors])
        try migrator.migrate(db, to: schema.rawValue)
    }

    /// The schema that the last migration made.
    func schema() throws -> Schema {
        let versions = try db.fetch(Int64.self, "SELECT max(version) FROM schema_migrations")
        guard let schema = versions.first.flatMap(Schema.init) else {
            throw NotesError("\(path) has a schema that this release does not know.")
        }
        return schema
    }

    func transaction(_ work: () throws -> Void) throws { try db.transaction(work) }

    /// Adds a note to the tables of the first schema.
    func add(_ note: Note) throws {
        try db.query(
            "INSERT INTO note VALUES (?, ?, ?, ?)",
            [SQLValue(note.id), SQLValue(note.created), SQLValue(note.title), SQLValue(note.text)]
        )
        for (position, tag) in note.tags.enumerated() {
            try db.query(
                "INSERT INTO note_tag VALUES (?, ?, ?)",
                [SQLValue(note.id), SQLValue(position), SQLValue(tag)]
            )
        }
    }

    func notes() throws -> [Note] {
        let names =
            switch try schema() {
            case .first: "SELECT note, name FROM note_tag ORDER BY note, position"
            case .tagsOnce, .colors:
                "SELECT note, name FROM note_tag JOIN tag ON id = tag ORDER BY note, position"
            }
        struct TagRow: Decodable { let note: Int, name: String }
        struct NoteRow: Decodable { let id: Int, created: String, title: String, text: String }
        var tags = Dictionary(grouping: try db.fetch(TagRow.self, names), by: \.note)
        let rows = try db.fetch(NoteRow.self, "SELECT id, created, title, text FROM note ORDER BY id")
        let notes = rows.map { row in
            let tags = tags.removeValue(forKey: row.id) ?? []
            let names = tags.map(\.name)
            return Note(id: row.id, created: row.created, title: row.title, tags: names, text: row.text)
        }
        if let note = tags.keys.min() {
            throw NotesError("\(path) has tags of note \(note), which is not there.")
        }
        return notes
    }

    func close() { db.close() }
}

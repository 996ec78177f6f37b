import AppMigrationsSQLite
import Foundation

/// The database that holds the library since release 2.1.
struct NotesDatabase {
    static let file = "notes.sqlite"

    /// The schemas and the releases that brought them, by the numbers of their migrations.
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

    /// Brings the schema up to a number, in a transaction for each migration; `beforeCommit` comes at the end of each.
    func migrate(to schema: Schema, beforeCommit: () throws -> Void = {}) throws {
        let folder = try SampleData.resource("Migrations").path(percentEncoded: false)
        var failure: (any Error)?
        do {
            try SQLMigrator<SQLiteConnection>(SQLMigration.files(in: folder) + [Self.colors])
                .migrate(db, to: schema.rawValue) { _ in
                    do {
                        try beforeCommit()
                        return .continue
                    } catch {
                        failure = error
                        return .rollBack
                    }
                }
        } catch {
            throw failure ?? error
        }
    }

    /// The number of the last migration that was run here.
    func schema() throws -> Schema {
        let rows = try db.query("SELECT max(version) FROM schema_migrations")
        guard case .integer(let version) = rows.first?.first, let schema = Schema(rawValue: version) else {
            throw NotesError("\(path) has a schema that this release does not know.")
        }
        return schema
    }

    /// Adds notes to the tables of the first schema, all or none.
    func add(_ notes: [Note], progress: ([Note], (Note) throws -> Void) throws -> Void) throws {
        try db.transaction {
            try progress(notes) { note in
                try db.query(
                    "INSERT INTO note VALUES (?, ?, ?, ?)",
                    [.integer(Int64(note.id)), .text(note.created), .text(note.title), .text(note.text)]
                )
                for (position, tag) in note.tags.enumerated() {
                    try db.query(
                        "INSERT INTO note_tag VALUES (?, ?, ?)",
                        [.integer(Int64(note.id)), .integer(Int64(position)), .text(tag)]
                    )
                }
            }
        }
    }

    func notes() throws -> [Note] {
        let names =
            switch try schema() {
            case .first: "SELECT note, name FROM note_tag ORDER BY note, position"
            case .tagsOnce, .colors:
                "SELECT note, name FROM note_tag JOIN tag ON id = tag ORDER BY note, position"
            }
        var tags: [Int64: [String]] = [:]
        for row in try db.query(names) {
            guard case .integer(let note) = row[0], case .text(let name) = row[1] else {
                throw unreadable("note_tag", row)
            }
            tags[note, default: []].append(name)
        }
        let notes = try db.query("SELECT id, created, title, text FROM note ORDER BY id").map { row in
            guard case .integer(let id) = row[0], case .text(let created) = row[1],
                case .text(let title) = row[2], case .text(let text) = row[3]
            else { throw unreadable("note", row) }
            let tags = tags.removeValue(forKey: id) ?? []
            return Note(id: Int(id), created: created, title: title, tags: tags, text: text)
        }
        if let note = tags.keys.min() {
            throw NotesError("\(path) has tags of note \(note), which is not there.")
        }
        return notes
    }

    func close() { db.close() }

    private func unreadable(_ table: String, _ row: [SQLValue]) -> NotesError {
        NotesError("\(path) has a row in \(table) that cannot be read: \(row)")
    }
}

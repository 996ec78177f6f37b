import AppMigrationsSQLite
import Foundation
import Testing

/// Also the samples of the doc comments about cells.
@Suite struct RowsInsideMigrations {
    struct Note { let id: Int, title: String, color: String? }
    struct Country: Encodable {
        let code: String
        let name: String
        var nickname: String?
    }

    func splittingNames() -> SQLiteMigration {
        // Sample 1 of RowsInsideMigrations.md
        return splitNames
    }

    func oneColumn(_ db: SQLiteConnection) throws -> [Int] {
        // Sample 2 of RowsInsideMigrations.md
        return orphans
    }

    func updating(_ countries: [Country], _ db: SQLiteConnection) throws {
        // Sample 3 of RowsInsideMigrations.md
    }

    func reading(_ db: SQLiteConnection) throws -> [Note] {
        var notes: [Note] = []
        // Sample 1 of SQLReadable.swift
        return notes
    }

    @Test func `names are split`() throws {
        let db = try database(
            """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, born);
            INSERT INTO person VALUES (1, 'Ada Lovelace', '1815-12-10'), (2, 'Plato', NULL), (5, '', 60)
            """
        )
        try SQLiteMigrator([splittingNames()]).migrate(db)
        #expect(
            try db.query("SELECT id, given, family, date(born, 'unixepoch') FROM person") == [
                [1, "Ada", "Lovelace", "1815-12-10"], [2, "Plato", nil, nil], [5, "", nil, "1970-01-01"],
            ]
        )
    }

    @Test func `one column is values, and cells are read as types`() throws {
        let db = try database(
            """
            CREATE TABLE folder(id); CREATE TABLE tag(name, folder);
            CREATE TABLE note(id, title, color, created, folder);
            INSERT INTO folder VALUES (7); INSERT INTO tag VALUES ('a', 7), ('b', 8);
            INSERT INTO note VALUES (1, 'a', NULL, 5.0, 7), (2, 'b', 'red', 5.0, 7),
                (3, 'c', 'red', 15.0, 7), (4, 'd', 'red', 5.0, 8)
            """
        )
        #expect(try oneColumn(db) == [4])
        #expect(try reading(db).map(\.color) == [nil, "red", "red", "red"])
    }

    @Test func `rows that are there are updated, and others inserted`() throws {
        let db = try database(
            """
            CREATE TABLE country(code TEXT PRIMARY KEY, name TEXT, nickname TEXT);
            INSERT INTO country VALUES ('DE', 'Germany', 'g')
            """
        )
        try updating([Country(code: "DE", name: "Deutschland"), Country(code: "IT", name: "Italia")], db)
        #expect(
            try db.query("SELECT * FROM country") == [["DE", "Deutschland", "g"], ["IT", "Italia", nil]]
        )
    }
}

import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct RowArticleTests {
    @Test func `names are split, as the article says`() throws {
        let db = try database(
            """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, born);
            INSERT INTO person VALUES (1, 'Ada Lovelace', '1815-12-10'), (2, 'Plato', NULL), (5, '', 60)
            """
        )
        try Migrator([splittingNames()]).migrate(db)
        #expect(
            try db.query("SELECT id, given, family, date(born, 'unixepoch') FROM person") == [
                [1, "Ada", "Lovelace", "1815-12-10"], [2, "Plato", nil, nil], [5, "", nil, "1970-01-01"],
            ]
        )
    }

    @Test func `one column is values, as the article says`() throws {
        let db = try database(
            """
            CREATE TABLE folder(id); CREATE TABLE note(id, folder); CREATE TABLE tag(name, folder);
            INSERT INTO folder VALUES (7); INSERT INTO note VALUES (1, 7), (2, 8);
            INSERT INTO tag VALUES ('a', 7), ('b', 8)
            """
        )
        #expect(try oneColumn(db) == ([2], ["a"]))
    }

    @Test func `cells are read as types, and variables are arguments, as the article says`() throws {
        let db = try database(
            """
            CREATE TABLE note(id, title, color, hue, created, folder);
            INSERT INTO note VALUES (1, 'a', NULL, NULL, 5, 7), (2, 'b', 'red', NULL, 5, 7), (3, 'c', 'red', NULL, 15, 7)
            """
        )
        try coloringNotes(before: Date(timeIntervalSince1970: 10), in: 7, db)
        #expect(try db.query("SELECT hue FROM note") == [["blue"], ["red"], [nil]])
    }

    @Test func `cells are read as types, and a wrong one is an error`() throws {
        let db = try database(
            "CREATE TABLE note(id, title, color); INSERT INTO note VALUES (1, 'a', 'red'), (2, 'b', NULL)"
        )
        #expect(
            try readingNotes(db) == [
                Note(id: 1, title: "a", color: "red"), Note(id: 2, title: "b", color: nil),
            ]
        )
        try db.query("UPDATE note SET title = NULL")
        #expect(try sqlError { try readingNotes(db) }.code == .unreadableRow)
    }

    @Test func `a date is compared as an insert keeps it`() throws {
        let db = try database("CREATE TABLE note(created); INSERT INTO note VALUES (5.0), (6.5)")
        try deletingNotes(before: Date(timeIntervalSince1970: 6), db)
        #expect(try db.query("SELECT created FROM note") == [[6.5]])
    }

    @Test func `a list that comes with the app is updated, as the article says`() throws {
        let db = try database(
            """
            CREATE TABLE country(code PRIMARY KEY, name, nickname, visited);
            INSERT INTO country VALUES ('CH', 'Helvetia', 'home', 5)
            """
        )
        try updatingCountries(
            [Country(code: "CH", name: "Switzerland"), Country(code: "IS", name: "Iceland")],
            db
        )
        #expect(
            try db.query("SELECT * FROM country") == [
                ["CH", "Switzerland", "home", 5], ["IS", "Iceland", nil, nil],
            ]
        )
    }

    @Test func `an integer that looks like a decimal is what numeric affinity makes of it`() throws {
        let db = try database("CREATE TABLE a(numeric DECIMAL(10, 2), text TEXT)")
        try db.query("INSERT INTO a VALUES ('12.50', '12.50')")
        #expect(try db.query("SELECT * FROM a") == [[12.5, "12.50"]])
    }
}

import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

struct ComparisonTests {
    /// The texts of a rehearsal whose only migration leaves `found`, while the newest starting point has `expected`.
    private func texts(
        _ expected: @escaping @Sendable (String) throws -> Void,
        _ found: @escaping @Sendable (String) throws -> Void,
        _ rules: ComparisonRule...
    ) throws -> [String] {
        let rehearsal = Rehearsal(
            currentVersion: "1.1",
            from: [.version("1.0") { _ in }, .version("1.1", making: expected)],
            comparing: rules
        )
        let report = try rehearsal.run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1") {
                // What an attempt before this one has left.
                for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                    try FileManager.default.removeItem(atPath: path(name, in: folder))
                }
                try found(folder)
            }
        }
        let start = "From 1.0 to 1.1, in one jump: compared with one jump from 1.1, "
        return report.texts.map { $0.hasPrefix(start) ? String($0.dropFirst(start.count)) : $0 }
    }

    @Test(
        arguments: [
            ("a\nb\n", "a\nc\n", #"line 2 of `list.txt` is "c" instead of "b"."#),
            ("a\n", "a\nb\n", #"line 2 of `list.txt` should not be there: "b"."#),
            ("a\nb\n", "a\n", #"line 2 of `list.txt` is missing: "b"."#),
            ("a\n", "a", "`list.txt` differs only in the line break at its end."),
            ("\u{E9}\n", "e\u{301}\n", "line 1 of `list.txt` is \"e\u{301}\" instead of \"\u{E9}\"."),
            ("\0a", "\0bc", "`list.txt` differs from byte 2 on, and has 3 bytes instead of 2."),
            ("\0a", "\0b", "`list.txt` differs from byte 2 on."),
        ]
    )
    func `files that differ are told with the place`(expected: String, found: String, text: String) throws {
        let texts = try texts(
            { try write(expected, to: "list.txt", in: $0) },
            { try write(found, to: "list.txt", in: $0) }
        )
        #expect(texts.map { Array($0.utf8) } == [Array(text.utf8)])
    }

    @Test func `of several rules that match a path, the first applies`() throws {
        let everything = ComparisonRule.ignoring("**")
        let list = ComparisonRule.comparing("list.txt") { _, _ in "differs" }
        let make: @Sendable (String) throws -> Void = { try write("a", to: "list.txt", in: $0) }
        let differences = try texts(make, make, list, everything)
        #expect(differences.contains { $0.contains("`list.txt` differs") })
        #expect(try texts(make, make, everything, list) == [])
    }

    @Test func `what is missing, in excess or of another kind is told`() throws {
        let texts = try texts(
            { folder in
                try write("", to: "a", in: folder)
                try write("", to: "b", in: folder)
                try TemporaryDirectory(path: folder).link("c", to: "a")
                try write("", to: "d", in: folder)
            },
            { folder in
                try TemporaryDirectory(path: folder).makeFolder("b")
                try TemporaryDirectory(path: folder).link("c", to: "b")
                try write("", to: "d", in: folder)
                try write("", to: "e\nf", in: folder)
            }
        )
        #expect(
            texts == [
                "`a` is missing.", "`b` is a folder instead of a file.",
                #"`c` is a link to "b" instead of a link to "a"."#,
                #"`e\nf` exists, but shouldn't."#,
            ]
        )
    }

    @Test(
        arguments: [
            ("list.txt", "list.txt", true), ("*.txt", "list.txt", true), ("*.txt", "Notes/list.txt", false),
            ("**.txt", "Notes/2016/list.txt", true), ("Notes", "Notes/2016/list.txt", true),
            ("Notes/*/list.txt", "Notes/2016/list.txt", true), ("Notes/*", "Notes/2016/list.txt", true),
            ("*/list.txt", "Notes/2016/list.txt", false), ("**/list.txt", "Notes/2016/list.txt", true),
            ("list", "list.txt", false), ("", "list.txt", false), ("**", "list.txt", true),
        ]
    )
    func `a pattern says which paths may differ`(pattern: String, name: String, isIgnored: Bool) throws {
        let texts = try texts(
            { _ in },
            { try TemporaryDirectory(path: $0).write("x", to: name) },
            .ignoring(pattern)
        )
        #expect(texts.contains("`\(name)` exists, but shouldn't.") != isIgnored, "\(texts)")
    }

    @Test(
        arguments: [
            ("Site.migrations.json", true), ("Site.migrations.json.tmp", true),
            ("Site.migrations.lock", true),
            ("migrations/Site.migrations.json", true), ("v2/migrations/Other.migrations.lock", true),
            ("Site.migrations.forgotten-20261121T035428Z-2", true),
            ("a.migrations.b.migrations.json", true), (".migrations.json", false),
            ("Site.migrations.txt", false), ("migrations.json", false),
            ("Site.migrations.forgottenfile", false),
            ("migrations/list.txt", false),
        ]
    )
    func `the state files of managers are left out, whatever the rules are`(name: String, isLeftOut: Bool)
        throws
    {
        let texts = try texts(
            { try write("a", to: "list.txt", in: $0) },
            { folder in
                try write("a", to: "list.txt", in: folder)
                try TemporaryDirectory(path: folder).write("x", to: name)
            },
            .normalizing("**.json") { $0 }
        )
        #expect(texts.isEmpty == isLeftOut, "\(texts)")
        if !isLeftOut { #expect(texts.contains("`\(name)` exists, but shouldn't.")) }
    }

    @Test func `a folder with a state is compared if the app has other files in it`() throws {
        let state = "migrations/Site.migrations.json"
        func texts(_ found: String...) throws -> [String] {
            try self.texts(
                { _ in },
                { folder in
                    for name in found { try TemporaryDirectory(path: folder).write("x", to: name) }
                }
            )
        }
        #expect(
            try texts(state, "migrations/v2/list.txt") == [
                "`migrations` exists, but shouldn't.", "`migrations/v2` exists, but shouldn't.",
                "`migrations/v2/list.txt` exists, but shouldn't.",
            ]
        )
        #expect(
            try self.texts(
                { try TemporaryDirectory(path: $0).write("x", to: state) },
                { try write("x", to: "migrations", in: $0) }
            ) == ["`migrations` is a file instead of a folder."]
        )
    }

    @Test func `what may differ in a file is taken out before it is compared`() throws {
        let withoutDigits = ComparisonRule.normalizing("*.txt") { $0.filter { !(48...57).contains($0) } }
        let texts = try texts(
            { folder in
                try write("id 17\n", to: "a.txt", in: folder)
                try write("id 17\n", to: "b.txt", in: folder)
            },
            { folder in
                try write("id 4\n", to: "a.txt", in: folder)
                try write("id: 4\n", to: "b.txt", in: folder)
            },
            withoutDigits
        )
        #expect(texts == [#"line 1 of `b.txt` is "id: " instead of "id "."#])
    }

    @Test func `databases are compared by what they hold`() throws {
        let rule = ComparisonRule.comparing(
            "*.sqlite",
            by: SQLiteComparison(ignoring: ["notes.changed"]).difference
        )
        func database(_ script: String) -> @Sendable (String) throws -> Void {
            { try SQLiteConnection(path: path("notes.sqlite", in: $0)).execute(script: script) }
        }
        let notes = "CREATE TABLE notes (title TEXT, changed REAL); INSERT INTO notes VALUES ('a', 1)"
        let altered = """
            CREATE TABLE notes (title TEXT); INSERT INTO notes VALUES ('a');
            ALTER TABLE notes ADD COLUMN changed REAL; UPDATE notes SET changed = 2
            """
        #expect(try texts(database(notes), database(altered), rule) == [])
        #expect(
            try texts(database(notes), database(altered + "; DELETE FROM notes"), rule)
                == ["`notes.sqlite` lacks a row of notes: (title 'a')."]
        )
    }
}

import AppMigrationsSQLite
import Testing

/// Scripts of other tools that have both directions in one file.
@Suite(.temporaryDirectory) struct BothDirectionsTests {
    @Test(arguments: [
        "-- +goose Down", "-- +goose down", "--+goose Down", "-- migrate:down",
        "-- migrate:down transaction:false",
        "-- +migrate Down", "-- +migrate Down notransaction", "-- +micrate Down", "-- rambler down",
        "-- //@UNDO",
        "-- @UNDO", "---- create above / drop below ----", "-- ==== DOWN ====", "  -- +goose Down  ",
        "-- Down Migration", "-- Down", "--- down ---",
        "-- !Downs",
    ])
    func `a script with the way down is refused before anything runs`(marker: String) throws {
        let db = try memory()
        let script = "-- the way up\nCREATE TABLE a(x);\n\(marker)\nDROP TABLE a;\n"
        let migrations = [
            Migration(version: 1, sql: "CREATE TABLE b(x)"), Migration(version: 2, sql: script),
        ]
        let error = try sqlError { try Migrator(migrations).migrate(db) }
        #expect(error.code == .invalidScript)
        #expect(error.version == 2)
        #expect(error.line == 3)
        let comment = marker.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        #expect(
            error.message
                == "The comment \"\(comment)\" begins the statements that undo the migration, but all statements of a script are"
                + " run. Remove the comment and everything after it: applied migrations can't be undone"
        )
        #expect(try tables(in: db) == [])
    }

    @Test(arguments: [
        "-- migrate:up\nCREATE TABLE a(x)",
        "-- +goose Up\n-- +goose StatementBegin\nCREATE TABLE a(x);\n-- +goose StatementEnd",
        "CREATE TABLE a(x); -- scroll down\nINSERT INTO a VALUES ('-- +goose Down')",
        "/* -- ways up and down */ CREATE TABLE a(x)", "CREATE TABLE a(x);\n-- Down by one",
        "CREATE TABLE a(x) -- undo is another table's",
    ])
    func `a script that only goes up runs`(script: String) throws {
        let db = try memory()
        #expect(try Migrator([Migration(version: 1, sql: script)]).migrate(db).applied == [1])
        #expect(try tables(in: db) == ["a"])
    }
}

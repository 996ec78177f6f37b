import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// Plans and stores as `print` shows them, and the database that their errors name.
@Suite(.temporaryDirectory) struct SchemaDescriptionTests {
    let folder = TemporaryDirectory.current.path

    private let target = "CREATE TABLE a(x, y); CREATE TABLE b(x)"

    @Test func `a plan is its steps, or its questions, or that there is none`() throws {
        let db = try memory()
        try db.query("CREATE TABLE a(x)")
        let plan = try SchemaPlan(from: db, to: target)
        #expect("\(plan)" == "create the table b\nadd the column y to the table a")
        try plan.apply(db)
        let done = "Nothing needs to be done: the database has the target's schema."
        #expect("\(try SchemaPlan(from: db, to: target))" == done)
        #expect(
            "\(try SchemaPlan(from: db, to: "CREATE TABLE a(x, y)"))"
                == "The target has no table b, which has 0 rows. To drop it with its content: droppedTables: [\"b\"]."
        )
    }

    @Test func `a status is a text that a person reads`() throws {
        let store = SQLiteStore(path: folder + "/db")
        #expect("\(try store.status(target: target))" == "missing: there is no store yet")
        try SQLiteConnection(path: store.path).query("CREATE TABLE a(x, y)")
        #expect("\(try store.status(target: target))" == "migratable:\ncreate the table b")
        #expect(
            "\(try store.status(target: "CREATE TABLE a(x, y)"))"
                == "same: the store has the target's schema"
        )
        let text = "\(try store.status(target: "CREATE TABLE c(x)"))"
        #expect(text.hasPrefix("undecided:\nThe target has no table a, which has 0 rows. If it was "))
        try write(String(repeating: "no database ", count: 100), to: folder + "/other")
        let damaged = "\(try SQLiteStore(path: folder + "/other").status(target: target))"
        #expect(damaged.hasPrefix("damaged: \(folder)/other: file is not a database"))
    }

    @Test func `what a rebuild and a plan refuse names the database`() throws {
        let db = try SQLiteConnection(path: folder + "/db")
        try db.query("CREATE TABLE a(x, y)")
        let rebuild = TableRebuild("a", as: "CREATE TABLE a(x)")
        let question = try SchemaPlan(from: db, to: "CREATE TABLE a(x)")
        let stale = try SchemaPlan(from: db, to: target)
        try db.query("CREATE TABLE c(x)")
        let changes: [() throws -> Void] = [
            { try rebuild.run(db) }, { try question.apply(db) }, { try stale.apply(db) },
        ]
        for change in changes {
            let error = try sqlError { try change() }
            #expect(error.path == folder + "/db")
            #expect(error.description.hasPrefix(folder + "/db: "))
        }
    }
}

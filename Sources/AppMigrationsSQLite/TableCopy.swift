/// What a ``TableRebuild`` does to one database, found out and checked before anything is changed.
struct TableCopy {
    let rebuild: TableRebuild
    /// The name as it is stored.
    let table: SQLName
    let old: TableShape
    let new: TableShape
    /// The columns to fill, each with where its value comes from.
    let fillings: [Filling]
    /// The indexes and triggers to make again, in their order.
    let indexes: [SchemaObject]
    let triggers: [SchemaObject]
    let droppedViews: [SchemaObject]
    /// The columns that the new table does not have.
    let gone: Set<SQLName>
    let statistics: TableStatistics

    struct Filling {
        let column: String
        let expression: String
    }

    init(_ rebuild: TableRebuild, _ db: some SQLConnection) throws(SQLError) {
        self.rebuild = rebuild
        let objects = try SchemaObject.all(of: db)
        let object = try rebuild.object(in: objects, db)
        table = object.name
        old = try TableShape(of: try object.statement(), in: "main", db)
        new = try Self.shape(of: try rebuild.newStatement(for: table), db)

        let belonging = (objects + (try SchemaObject.all(of: db, in: "temp"))).filter {
            $0.table == object.name && $0.sql != nil && !rebuild.dropping.contains($0.name)
        }
        indexes = belonging.filter { $0.kind == .index && $0.schema == "main" }
        triggers = belonging.filter { $0.kind == .trigger }
        droppedViews = objects.filter { $0.kind == .view && rebuild.dropping.contains($0.name) }
        gone = Set(old.columns.map(\.name)).subtracting(new.columns.map(\.name))
        fillings = try rebuild.fillings(old, new)
        statistics = try TableStatistics(of: old, db)

        try rebuild.check(old, new, objects)
        try rebuild.checkIndexes(indexes, gone)
        try rebuild.checkTriggers(triggers, gone)
        try rebuild.checkNulls(old, new, in: db)
    }

    /// What the new table is like, as SQLite says of a temporary one that is gone again.
    private static func shape(
        of statement: CreateStatement,
        _ db: some SQLConnection
    ) throws(SQLError) -> TableShape {
        try db.rows("SAVEPOINT app_migrations_shape")
        for object in try SchemaObject.all(of: db, in: "temp")
        where object.name == statement.name && (object.kind == .table || object.kind == .view) {
            try db.rows("DROP \(object.kind == .table ? "TABLE" : "VIEW") \(object.qualifiedName)")
        }
        try db.rows(statement.text(in: "temp"))
        let shape = try TableShape(of: statement, in: "temp", db)
        try db.rows("ROLLBACK TO app_migrations_shape")
        try db.rows("RELEASE app_migrations_shape")
        return shape
    }

    func run(_ db: some SQLConnection) throws(SQLError) {
        let count = try db.number("SELECT count(*) FROM main.\(table.quoted)") ?? 0
        let counter = try AutoincrementCounter(of: table, in: db)
        for trigger in try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")
        where trigger.kind == .trigger && trigger.table == table {
            try db.rows("DROP TRIGGER \(trigger.qualifiedName)")
        }
        for view in droppedViews { try db.rows("DROP VIEW \(view.qualifiedName)") }

        let copied = try copy(db)
        if copied != count {
            throw rebuild.refusal(
                "Of \(count) rows \(copied) would be left",
                "An expression in values: must give one value for each row, so it can hold no aggregate function"
            )
        }
        if new.hasAutoincrement { try counter.restore(for: new.name, in: db) }
        for index in indexes { try db.rows(try index.statement().text(in: "main")) }
        for trigger in triggers { try db.rows(try trigger.statement().text(in: trigger.schema)) }
        try statistics.restore(for: new.name, in: db)
    }

    /// Moves the rows into the new table; how many they were.
    private func copy(_ db: some SQLConnection) throws(SQLError) -> Int64 {
        let stash = try unusedName(db)
        do throws(SQLError) {
            try db.rows("ALTER TABLE main.\(table.quoted) RENAME TO \(stash)")
        } catch  where error.code == .statementFailed {
            // A CHECK or an index that names the table does not compile under another name.
            return try copyTwice(db, by: stash)
        }
        try db.rows(rebuild.createTable)
        let count = try insert(
            into: new.name.quoted,
            fillings.map(\.column),
            "\(fillings.map(\.expression).joined(separator: ", ")) FROM main.\(stash) AS \(table.quoted)",
            db
        )
        try db.rows("DROP TABLE main.\(stash)")
        return count
    }

    private func copyTwice(_ db: some SQLConnection, by stash: String) throws(SQLError) -> Int64 {
        // Without types, no value is converted on the way.
        let columns = fillings.indices.map { "c\($0)" }
        try db.rows("CREATE TABLE main.\(stash)(\(columns.joined(separator: ", ")))")
        try insert(
            into: stash,
            columns,
            "\(fillings.map(\.expression).joined(separator: ", ")) FROM main.\(table.quoted)",
            db
        )
        try db.rows("DROP TABLE main.\(table.quoted)")
        try db.rows(rebuild.createTable)
        let count = try insert(
            into: new.name.quoted,
            fillings.map(\.column),
            "\(columns.joined(separator: ", ")) FROM main.\(stash) ORDER BY rowid",
            db
        )
        try db.rows("DROP TABLE main.\(stash)")
        return count
    }

    /// "OR ABORT" stands above the `ON CONFLICT` clauses of the new table, which would leave rows out or
    /// take others away ("The ON CONFLICT Clause").
    @discardableResult
    private func insert(
        into target: String,
        _ columns: [String],
        _ selection: String,
        _ db: some SQLConnection
    ) throws(SQLError) -> Int64 {
        try db.rows(
            "INSERT OR ABORT INTO main.\(target)(\(columns.joined(separator: ", "))) SELECT \(selection)"
        )
        return try db.number("SELECT changes()") ?? 0
    }

    private func unusedName(_ db: some SQLConnection) throws(SQLError) -> String {
        let taken = Set((try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")).map(\.name))
        var number = 1
        while taken.contains(SQLName("app_migrations_\(number)")) { number += 1 }
        return "app_migrations_\(number)"
    }
}

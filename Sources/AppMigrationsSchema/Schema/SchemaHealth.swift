internal import AppMigrationsSQLite

/// The views and triggers that don't compile, each with SQLite's error.
///
/// SQLite compiles a view or a trigger only when it is used. Without this check, dropping a column could
/// break a trigger, and the next release would notice it only when an `INSERT` fails.
struct SchemaHealth {
    /// SQLite's error for each object, by its kind and its qualified name.
    ///
    /// The name is qualified with the schema, because a temporary trigger and a trigger of the database can
    /// have the same name.
    private var complaints = [String: (object: SchemaObject, message: String)]()
    private let removedColumnNames: Set<SQLName>

    /// Compiles every view and trigger.
    ///
    /// `removedColumnNames` are the names of the columns that are dropped or renamed. SQLite treats a
    /// double-quoted name as a string literal if there is no such column, and reports no error. So these
    /// names are put in backticks.
    init(of db: some SQLConnection, removedColumnNames: Set<SQLName>) throws(SQLError) {
        self.removedColumnNames = removedColumnNames
        let objects = try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")
        for view in objects where view.kind == .view { try checkView(view, on: db) }
        var groups = [String: [SchemaObject]]()
        for trigger in objects where trigger.kind == .trigger {
            guard let event = try trigger.statement().event else { continue }
            let isTemporary = objects.contains {
                $0.schema == "temp" && ($0.kind == .table || $0.kind == .view) && $0.name == trigger.table
            }
            let schema = trigger.schema == "temp" && isTemporary ? "temp" : "main"
            let statement = try Self.statement(firing: event.name, of: trigger.table, in: schema, on: db)
            guard let firing = statement else { continue }
            groups[firing, default: []].append(trigger)
        }
        for (firing, triggers) in groups { try checkTriggers(triggers, firedBy: firing, on: db) }
    }

    /// Throws if a view or a trigger that compiled before no longer compiles.
    func check(against before: SchemaHealth, advice: String) throws(SQLError) {
        for (key, complaint) in complaints.sorted(by: { $0.key < $1.key })
        where before.complaints[key] == nil {
            let object = complaint.object
            throw SQLError(
                .brokenObject,
                "The \(object.kind) \(object.name) would no longer compile: \(complaint.message). Nothing was changed."
                    + " \(advice)"
            )
        }
    }

    private mutating func record(_ message: String?, about object: SchemaObject) {
        complaints["\(object.kind) \(object.qualifiedName)"] = message.map { (object, $0) }
    }

    private mutating func checkView(_ view: SchemaObject, on db: some SQLConnection) throws(SQLError) {
        if let complaint = try db.complaint(about: "SELECT * FROM \(view.qualifiedName)") {
            record(complaint, about: view)
            return
        }
        let statement = try view.statement()
        let occurrences = statement.doubleQuotedOccurrences(of: removedColumnNames)
        if occurrences.isEmpty { return }
        let probe = "\(view.schema).app_migrations_probe"
        let text = statement.text(naming: probe, replacing: occurrences)
        try db.inRolledBackSavepoint { () throws(SQLError) in
            try db.rows(text)
            record(try db.complaint(about: "SELECT * FROM \(probe)"), about: view)
        }
    }

    private mutating func checkTriggers(
        _ triggers: [SchemaObject],
        firedBy firing: String,
        on db: some SQLConnection
    ) throws(SQLError) {
        var texts = [String]()
        var hasDoubleQuotes = false
        for trigger in triggers {
            let statement = try trigger.statement()
            let occurrences = statement.doubleQuotedOccurrences(of: removedColumnNames)
            hasDoubleQuotes = hasDoubleQuotes || !occurrences.isEmpty
            texts.append(statement.text(naming: trigger.qualifiedName, replacing: occurrences))
        }
        if !hasDoubleQuotes, try db.complaint(about: firing) == nil { return }
        // SQLite compiles all triggers of an event together, and reports only the first error. So try each
        // trigger alone.
        for (trigger, text) in zip(triggers, texts) {
            try db.inRolledBackSavepoint { () throws(SQLError) in
                for other in triggers { try db.rows("DROP TRIGGER \(other.qualifiedName)") }
                try db.rows(text)
                record(try db.complaint(about: firing), about: trigger)
            }
        }
    }

    /// A statement that would fire the triggers of a table or a view.
    ///
    /// - Returns: `nil` if there is no column to update, or if the view doesn't compile.
    private static func statement(
        firing event: String,
        of table: SQLName,
        in schema: String,
        on db: some SQLConnection
    ) throws(SQLError) -> String? {
        let target = "\(schema).\(table.quoted)"
        if event == "INSERT" { return "INSERT INTO \(target) DEFAULT VALUES" }
        if event == "DELETE" { return "DELETE FROM \(target)" }
        var settings = [String]()
        let rows: [[SQLValue]]
        do throws(SQLError) {
            rows = try db.rows("PRAGMA \(schema).table_xinfo(\(table.quoted))")
        } catch  where error.code == .statementFailed || error.isVirtualTableDamage {
            // The view doesn't compile, which is reported for the view itself.
            return nil
        }
        for row in rows where row.last?.number == 0 {
            if case .text(let name) = row[1] {
                let quoted = SQLName(name).quoted
                settings.append("\(quoted) = \(quoted)")
            }
        }
        return settings.isEmpty ? nil : "UPDATE \(target) SET \(settings.joined(separator: ", "))"
    }
}

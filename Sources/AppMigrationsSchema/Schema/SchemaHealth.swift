internal import AppMigrationsSQLite

/// The views and triggers that don't compile, each with SQLite's error.
///
/// SQLite compiles them when they are used. Without this check, a column that is dropped would break an
/// `INSERT` of the next release.
struct SchemaHealth {
    private var complaints = [String: String]()
    private let gone: Set<SQLName>

    /// Compiles every view and trigger.
    ///
    /// SQLite treats a name in double quotes as a text if there is no such column. So the names of dropped
    /// columns are tried in backticks.
    init(of db: some SQLConnection, gone: Set<SQLName>) throws(SQLError) {
        self.gone = gone
        let objects = try SchemaObject.all(of: db) + SchemaObject.all(of: db, in: "temp")
        for view in objects where view.kind == .view { try check(view, db) }
        var groups = [String: [SchemaObject]]()
        for trigger in objects where trigger.kind == .trigger {
            guard let event = try trigger.statement().event else { continue }
            let isTemporary = objects.contains {
                $0.schema == "temp" && ($0.kind == .table || $0.kind == .view) && $0.name == trigger.table
            }
            let schema = trigger.schema == "temp" && isTemporary ? "temp" : "main"
            guard let firing = try Self.firing(event.name, trigger.table, schema, db) else { continue }
            groups[firing, default: []].append(trigger)
        }
        for (firing, triggers) in groups { try check(triggers, firedBy: firing, db) }
    }

    /// Throws if a view or a trigger doesn't compile any more that compiled before.
    func check(against before: SchemaHealth, dropping advice: String) throws(SQLError) {
        for (object, complaint) in complaints.sorted(by: { $0.key < $1.key })
        where before.complaints[object] == nil {
            throw SQLError(
                .brokenObject,
                "The \(object) would no longer compile: \(complaint). Nothing was changed. \(advice)"
            )
        }
    }

    private mutating func check(_ view: SchemaObject, _ db: some SQLConnection) throws(SQLError) {
        let name = "view \(view.name)"
        if let complaint = try db.complaint(about: "SELECT * FROM \(view.qualifiedName)") {
            complaints[name] = complaint
            return
        }
        let statement = try view.statement()
        let doubtful = statement.doubtful(gone)
        if doubtful.isEmpty { return }
        let probe = "\(view.schema).app_migrations_probe"
        let text = statement.text(naming: probe, replacing: doubtful)
        try db.takingBack { () throws(SQLError) in
            try db.rows(text)
            complaints[name] = try db.complaint(about: "SELECT * FROM \(probe)")
        }
    }

    private mutating func check(
        _ triggers: [SchemaObject],
        firedBy firing: String,
        _ db: some SQLConnection
    ) throws(SQLError) {
        var texts = [String]()
        var isDoubtful = false
        for trigger in triggers {
            let statement = try trigger.statement()
            let doubtful = statement.doubtful(gone)
            isDoubtful = isDoubtful || !doubtful.isEmpty
            texts.append(statement.text(naming: trigger.qualifiedName, replacing: doubtful))
        }
        if !isDoubtful, try db.complaint(about: firing) == nil { return }
        // SQLite compiles all of them together, and reports the first that fails.
        for (trigger, text) in zip(triggers, texts) {
            try db.takingBack { () throws(SQLError) in
                for other in triggers { try db.rows("DROP TRIGGER \(other.qualifiedName)") }
                try db.rows(text)
                complaints["trigger \(trigger.name)"] = try db.complaint(about: firing)
            }
        }
    }

    /// A statement that would fire the triggers of a table or a view; `nil` if it has no columns.
    private static func firing(
        _ event: String,
        _ table: SQLName,
        _ schema: String,
        _ db: some SQLConnection
    ) throws(SQLError) -> String? {
        let target = "\(schema).\(table.quoted)"
        if event == "INSERT" { return "INSERT INTO \(target) DEFAULT VALUES" }
        if event == "DELETE" { return "DELETE FROM \(target)" }
        var settings = [String]()
        let rows: [[SQLValue]]
        do throws(SQLError) {
            rows = try db.rows("PRAGMA \(schema).table_xinfo(\(table.quoted))")
        } catch  where error.code == .statementFailed {
            // A view that doesn't compile is reported itself.
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

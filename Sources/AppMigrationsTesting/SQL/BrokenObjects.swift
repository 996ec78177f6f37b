import AppMigrationsSQL

/// The views and triggers of a schema that don't compile.
///
/// SQLite compiles a view or a trigger only when it is used. So a migration that drops a column succeeds, and
/// the app's next `INSERT` fails, because of a trigger that writes the column.
struct BrokenObjects {
    /// A sentence for each of them.
    private(set) var sentences = [String]()

    init(in schema: SQLSchema, of db: some SQLConnection) throws {
        for view in schema.objects where view.kind == .view {
            guard let message = Self.complaint(about: "SELECT * FROM main.\(view.name.quoted)", in: db) else {
                continue
            }
            sentences.append("the view \(view.name) doesn't compile: \(message).")
        }
        var groups = [Firing: [SQLName]]()
        for trigger in schema.objects where trigger.kind == .trigger {
            guard let event = Self.event(of: trigger) else { continue }
            groups[Firing(event: event, table: trigger.table), default: []].append(trigger.name)
        }
        for (firing, triggers) in groups.sorted(by: { $0.value[0].text < $1.value[0].text }) {
            guard let statement = try firing.statement(in: db),
                let message = Self.complaint(about: statement, in: db)
            else { continue }
            let names = triggers.map(\.text).joined(separator: ", ")
            let subject = triggers.count == 1 ? "the trigger \(names)" : "one of the triggers \(names)"
            sentences.append(
                "\(subject) doesn't compile: \(message). So each \(firing.event) of \(firing.table) would fail."
            )
        }
    }

    /// A kind of statement that fires triggers.
    private struct Firing: Hashable {
        let event: String
        let table: SQLName

        /// A statement that fires the triggers; `nil` if the table is a view that doesn't compile.
        func statement(in db: some SQLConnection) throws -> String? {
            let target = "main.\(table.quoted)"
            switch event {
            case "INSERT": return "INSERT INTO \(target) DEFAULT VALUES"
            case "DELETE": return "DELETE FROM \(target)"
            default:
                let rows: [[SQLValue]]
                do { rows = try db.query("PRAGMA main.table_xinfo(\(table.quoted))") } catch { return nil }
                let settings = try rows.filter { $0.last == 0 }.map { row in
                    let column = SQLName(try row[1].value(as: String.self)).quoted
                    return "\(column) = \(column)"
                }
                return settings.isEmpty ? nil : "UPDATE \(target) SET \(settings.joined(separator: ", "))"
            }
        }
    }

    /// The event of a trigger.
    ///
    /// SQLite stores a trigger from `CREATE TRIGGER name` on, so that the event is the first of these words
    /// after the name.
    private static func event(of trigger: SchemaObject) -> String? {
        let tokens = SQLTokens(trigger.sql ?? "")
        for index in tokens.tokens.indices.dropFirst(3) {
            if tokens.isWord(index, "INSERT") { return "INSERT" }
            if tokens.isWord(index, "UPDATE") { return "UPDATE" }
            if tokens.isWord(index, "DELETE") { return "DELETE" }
        }
        return nil
    }

    /// SQLite's error if a statement doesn't compile.
    ///
    /// It is `nil` if only a function or a module is missing, because the app may register it on its own
    /// connections.
    private static func complaint(about statement: String, in db: some SQLConnection) -> String? {
        do {
            _ = try db.query("EXPLAIN \(statement)")
            return nil
        } catch {
            let message = SQLError.wrapped(error, as: .statementFailed).message
            return SQLError.saysRegistrationIsMissing(message) ? nil : message
        }
    }
}

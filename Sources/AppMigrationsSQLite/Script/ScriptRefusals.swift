/// Decides which statements a script in a transaction may not run, and records why one was refused.
///
/// SQLite itself reports what a statement does: "The authorizer callback is invoked as SQL statements are
/// being compiled" (sqlite3_set_authorizer). A search for keywords would miss some statements, for example a
/// COMMIT after a byte order mark.
final class ScriptRefusals {
    /// True while SQLite compiles a statement of the script.
    var isCompiling = false

    /// Why a statement was refused.
    private(set) var refusal: String?

    /// The table that the last compiled statement drops.
    var droppedTable: String?

    func allows(transaction statement: String) -> Bool {
        refusal =
            "A script in a transaction may not \(statement): its transaction is begun and ended for it."
            + " Remove the statement"
        return false
    }

    func allows(pragma name: String, hasValue: Bool) -> Bool {
        if !hasValue || Self.reading.contains(name.lowercased()) { return true }
        refusal =
            "A script in a transaction may not set PRAGMA \(name): " + Self.reason(against: name.lowercased())
        return false
    }

    /// Why a script in a transaction may not set a pragma, and what to do instead ("PRAGMA Statements").
    private static func reason(against pragma: String) -> String {
        let foreignKeys =
            "Remove the statement: a migrator turns foreign keys off while a migration runs, and checks them before the commit"
        let connection = "Set it on the connection before the migrator runs"
        return switch pragma {
        case "foreign_keys": "SQLite ignores it there. \(foreignKeys)"
        case "defer_foreign_keys": "it isn't needed. \(foreignKeys)"
        case "user_version", "application_id":
            "what counts is the ledger. If another program reads this number, set it in a migration with a closure"
        case "legacy_alter_table", "writable_schema", "ignore_check_constraints", "recursive_triggers",
            "case_sensitive_like", "trusted_schema":
            "it would stay set on the connection after the migration. Use a migration with a closure, which sets it back"
        case "journal_mode", "synchronous", "temp_store", "auto_vacuum", "page_size", "encoding":
            "SQLite doesn't change it there. \(connection)"
        default:
            "SQLite may ignore it there, or it would stay set after the migration. \(connection)"
        }
    }

    /// Refuses a `VACUUM`, which SQLite compiles in a transaction, but never runs there.
    func allows(firstWord: String) -> Bool {
        if firstWord != "VACUUM" { return true }
        refusal =
            "A script in a transaction may not VACUUM: SQLite doesn't run it there. Run it on the connection, after the migrator has"
            + " returned"
        return false
    }

    /// Judges a statement by its first words, for a connection whose authorizer can't be used.
    func allows(_ statement: SQLTokens) -> Bool {
        func name(_ index: Int) -> String {
            statement.name(statement.isSign(index + 1, ".") ? index + 2 : index)?.text ?? ""
        }
        let first = statement.tokens.isEmpty ? "" : statement.text(0).uppercased()
        switch first {
        case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH":
            return allows(transaction: first)
        case "PRAGMA":
            let hasValue = statement.tokens.indices.contains {
                statement.isSign($0, "=") || statement.isSign($0, "(")
            }
            return allows(pragma: name(1), hasValue: hasValue)
        case "DROP" where statement.isWord(1, "TABLE"):
            droppedTable = name(statement.isWord(2, "IF") ? 4 : 2)
        default: return allows(firstWord: first)
        }
        return true
    }

    /// The pragmas that set nothing: their argument is the table or index to read.
    private static let reading = [
        "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list",
        "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check",
    ]
}

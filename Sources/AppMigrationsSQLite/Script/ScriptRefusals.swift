/// Decides which statements a script in a transaction may not run, and records why one was refused.
///
/// SQLite itself reports what a statement does: "The authorizer callback is invoked as SQL statements are
/// being compiled" (sqlite3_set_authorizer). A search for keywords would miss some statements, for example a
/// COMMIT after a byte order mark.
final class ScriptRefusals {
    /// True while SQLite compiles a statement of the script.
    var isCompiling = false

    /// Why a statement was refused; `nil` if none was refused.
    private(set) var refusal: String?

    /// The table that the last compiled statement drops.
    var droppedTable: String?

    /// Refuses a statement that begins or ends a transaction.
    func refuse(transactionStatement statement: String) {
        refusal =
            "A script in a transaction may not \(statement): its transaction is begun and ended for it."
            + " Remove the statement"
    }

    /// Refuses an `ATTACH`.
    ///
    /// SQLite runs it in a transaction, but the database stays attached after a rollback.
    func refuseAttach() {
        refusal =
            "A script in a transaction may not ATTACH: a rollback would not undo it."
            + " Run it on the connection before the migrator runs"
    }

    /// Refuses a `DETACH`, which SQLite refuses itself if the transaction has used the database.
    func refuseDetach() {
        refuse("DETACH", because: "SQLite doesn't run it there if the transaction has used the database")
    }

    /// Refuses a statement that can't be in a transaction.
    private func refuse(_ statement: String, because reason: String) {
        refusal =
            "A script in a transaction may not \(statement): \(reason)."
            + " Run it on the connection, after the migrator has returned"
    }

    /// Refuses a pragma that sets something.
    func check(pragma name: String, hasValue: Bool) {
        if !hasValue || Self.pragmasThatOnlyRead.contains(name.lowercased()) { return }
        refusal =
            "A script in a transaction may not set PRAGMA \(name): " + Self.reason(against: name.lowercased())
    }

    /// Why a script in a transaction may not set a pragma, and what to do instead
    /// (https://sqlite.org/pragma.html).
    private static func reason(against pragma: String) -> String {
        let foreignKeys =
            "Remove the statement: if foreign keys are on, a migrator turns them off while a migration runs, and checks them before"
            + " the commit"
        let connection = "Set it on the connection before the migrator runs"
        return switch pragma {
        case "foreign_keys": "SQLite ignores it there. \(foreignKeys)"
        case "defer_foreign_keys": "it isn't needed. \(foreignKeys)"
        case "user_version", "application_id":
            "a migrator uses its ledger instead. If another program reads this number, set it in a migration with a closure"
        case "legacy_alter_table", "writable_schema", "ignore_check_constraints", "recursive_triggers",
            "case_sensitive_like", "trusted_schema":
            "it would stay set on the connection after the migration. Use a migration with a closure, which sets it back"
        case "journal_mode", "synchronous", "temp_store", "auto_vacuum", "page_size", "encoding":
            "SQLite doesn't change it there. \(connection)"
        default:
            "SQLite may ignore it there, or it would stay set after the migration. \(connection)"
        }
    }

    /// Refuses a `VACUUM`.
    ///
    /// SQLite compiles it in a transaction without asking the authorizer, but running it there fails.
    func check(firstWord: String) {
        if firstWord == "VACUUM" { refuse(firstWord, because: "SQLite doesn't run it there") }
    }

    /// Checks a statement by its first words, for a connection whose authorizer can't be used.
    func check(_ statement: SQLTokens) {
        func name(_ index: Int) -> String {
            statement.name(statement.isSign(index + 1, ".") ? index + 2 : index)?.text ?? ""
        }
        let first = statement.tokens.isEmpty ? "" : statement.text(0).uppercased()
        switch first {
        case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE":
            refuse(transactionStatement: first)
        case "ATTACH": refuseAttach()
        case "DETACH": refuseDetach()
        case "PRAGMA":
            let hasValue = statement.tokens.indices.contains {
                statement.isSign($0, "=") || statement.isSign($0, "(")
            }
            check(pragma: name(1), hasValue: hasValue)
        case "DROP" where statement.isWord(1, "TABLE"):
            droppedTable = name(statement.isWord(2, "IF") ? 4 : 2)
        default: check(firstWord: first)
        }
    }

    /// The pragmas that set nothing: their argument is the table or index to read.
    private static let pragmasThatOnlyRead = [
        "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list",
        "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check",
    ]
}

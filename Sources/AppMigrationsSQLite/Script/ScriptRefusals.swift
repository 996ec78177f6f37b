/// The statements that a script may not run in a transaction, and the one that it tried.
///
/// SQLite itself tells what a statement does: "The authorizer callback is invoked as SQL statements are
/// being compiled" (sqlite3_set_authorizer). A search for keywords would have holes: a byte order mark
/// before COMMIT is one.
final class ScriptRefusals {
    /// True if SQLite compiles a statement of the script at the moment.
    var isCompiling = false

    /// Why a statement was refused.
    private(set) var refusal: String?

    /// The table that the statement drops which was compiled last.
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
            "A script in a transaction may not set PRAGMA \(name): SQLite ignores most of them"
            + " there. Set it on the connection before the migrator runs"
        return false
    }

    /// Judges a statement by its first words, where SQLite cannot be asked.
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
        default: break
        }
        return true
    }

    /// The pragmas whose argument says what to read.
    private static let reading = [
        "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list",
        "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check",
    ]
}

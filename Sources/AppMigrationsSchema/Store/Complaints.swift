internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// The problems that SQLite's check of a database reports.
///
/// There are two kinds. Damage is something that SQLite can't read or find. A row that breaks a constraint is
/// no damage, but the check reports it, because it includes "CHECK and NOT NULL constraints" (PRAGMA
/// integrity_check). Such a row was written under an older schema, while constraints were off, or by SQLite
/// itself, such as a default that `ALTER TABLE` doesn't convert.
struct Complaints {
    /// SQLite's first three messages about damage.
    private var damaged = [String]()
    /// The number of rows that break a constraint, by SQLite's message, which names the table or the column.
    private var broken: [String: Int] = [:]

    /// Runs a whole check, on a connection from which the caller has removed the modules of virtual tables.
    ///
    /// If the check fails because the database is too damaged, that counts as damage, too. Damage counts only
    /// if a second check finds it as well: if the disk fails to read a page, a check reports the page as
    /// damaged and goes on.
    init(_ check: SQLiteStore.Check, of db: SQLiteConnection) throws(SQLError) {
        let first = try Self(of: db, once: check)
        self = first.damaged.isEmpty ? first : try Self(of: db, once: check)
    }

    private init(of db: SQLiteConnection, once check: SQLiteStore.Check) throws(SQLError) {
        guard let pragma = check.pragma else { return }
        do throws(SQLError) {
            try addComplaints(of: "PRAGMA main.\(pragma)(\(Int32.max))", on: db)
            try removeFalseReports(of: db)
        } catch {
            switch error.code {
            case .damaged:
                broken = [:]
                damaged = [error.message]
            case .statementFailed: try checkEachTable(by: pragma, after: error, on: db)
            default: throw error
            }
        }
    }

    /// Checks the schema and each ordinary table by itself, since the check of the whole database failed.
    ///
    /// A table that needs a collation of the app can't be checked here. Damage in the other tables counts. If
    /// they have none, the unchecked table may still be damaged, so the error of the whole check is thrown.
    private mutating func checkEachTable(
        by pragma: String,
        after failure: SQLError,
        on db: SQLiteConnection
    ) throws(SQLError) {
        broken = [:]
        damaged = []
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'"
        for table in try ["sqlite_master"] + db.texts(sql) {
            do throws(SQLError) {
                try addComplaints(of: "PRAGMA main.\(pragma)(\(SQLName(table).quoted))", on: db)
            } catch {
                switch error.code {
                case .damaged: addDamage(error.message[...])
                case .statementFailed: continue
                default: throw error
                }
            }
        }
        if damaged.isEmpty { throw failure }
    }

    private mutating func addComplaints(of check: String, on db: SQLiteConnection) throws(SQLError) {
        try SQLiteSession(SQLConversation(db)).values(of: check) { value throws(SQLError) in
            let text = try value.value(as: String.self)
            for line in text.split(separator: "\n") { try Self.checkForFailure(line) }
            classify(text)
        }
    }

    /// Throws if a message has an error code other than CORRUPT, such as a disk error, which doesn't mean
    /// that the page is damaged.
    ///
    /// These messages end in "error code=266" or "error code 10".
    static func checkForFailure(_ complaint: Substring) throws(SQLError) {
        let words = complaint.split { $0 == " " || $0 == "=" }
        guard words.dropLast().suffix(2) == ["error", "code"], let code = words.last.flatMap({ Int32($0) })
        else { return }
        if code & 0xFF == SQLITE_CORRUPT { return }
        throw SQLError(.fileFailure, "A page could not be read: \(complaint)").with {
            $0.extendedResultCode = code
        }
    }

    private mutating func classify(_ text: String) {
        if text == "ok" { return }
        if Self.ignoredBeginnings.contains(where: text.hasPrefix) { return }
        if Self.constraints.contains(where: text.hasPrefix) {
            broken[text, default: 0] += 1
            return
        }
        // All messages about pages are in one row, below a headline.
        for line in text.split(separator: "\n") where !line.hasPrefix("*** in database ") { addDamage(line) }
    }

    private mutating func addDamage(_ line: Substring) {
        if damaged.count < 3 { damaged.append(String(line)) }
    }

    /// The beginnings of messages that are ignored, about values that their columns would convert.
    ///
    /// `ALTER TABLE … ADD COLUMN flag TEXT DEFAULT TRUE` writes such values.
    private static let ignoredBeginnings = ["NUMERIC value in ", "TEXT value in "]

    private static let constraints =
        ["NULL value in ", "CHECK constraint failed in "]
        + ["BLOB", "INT", "INTEGER", "REAL", "TEXT"].map { "non-\($0) value in " }

    /// The first messages about damage, for an error; `nil` if there is no damage.
    var damage: String? { damaged.isEmpty ? nil : damaged.joined(separator: "; ") }

    var isEmpty: Bool { damaged.isEmpty && broken.isEmpty }

    /// Removes false reports.
    ///
    /// SQLite 3.40 reports a NULL in a sound WITHOUT ROWID table that has a column before its key.
    private mutating func removeFalseReports(of db: SQLiteConnection) throws(SQLError) {
        for text in broken.keys.filter({ $0.hasPrefix(Self.constraints[0]) }) {
            let column = SQLValue.text(String(text.dropFirst(Self.constraints[0].count)))
            // `typeof` is used because SQLite treats `IS NULL` as false for a NOT NULL column, and reads
            // nothing.
            let queries = try db.texts(
                """
                SELECT printf('SELECT 1 FROM main."%w" WHERE typeof("%w") = ''null'' LIMIT 1', t.name, c.name)
                FROM main.sqlite_master AS t, pragma_table_xinfo(t.name) AS c
                WHERE t.type = 'table' AND t.name || '.' || c.name = \(column)
                """
            )
            // If the column isn't found, the report is kept.
            var isTrue = queries.isEmpty
            for query in queries where try !db.query(query).isEmpty { isTrue = true }
            if !isTrue { broken[text] = nil }
        }
    }

    /// The problems that `before`, which has no damage, doesn't have, as an error; `nil` if there are none.
    ///
    /// For rows that break a constraint, the totals of all tables are compared, because a table may have been
    /// renamed.
    func added(since before: Complaints) -> SQLError? {
        if let damage {
            let message = "The migrated copy is damaged, so it did not replace the store: \(damage)"
            return SQLError(.damaged, message)
        }
        for constraint in Self.constraints where count(of: constraint) > before.count(of: constraint) {
            let texts = broken.keys.filter { $0.hasPrefix(constraint) && broken[$0] != before.broken[$0] }
            return SQLError(
                .constraintViolation,
                "The migrated copy did not replace the store, because some of its rows break a constraint: "
                    + texts.sorted().prefix(3).joined(separator: "; ")
            )
        }
        return nil
    }

    private func count(of constraint: String) -> Int {
        broken.reduce(0) { $1.key.hasPrefix(constraint) ? $0 + $1.value : $0 }
    }
}

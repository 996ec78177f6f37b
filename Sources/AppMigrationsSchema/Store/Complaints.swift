internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// The complaints of SQLite's check of a database, counted by kind.
///
/// There are two kinds. Damage is something that SQLite can't read or find. A row that breaks a constraint is
/// no damage: SQLite checks "CHECK and NOT NULL constraints", too (PRAGMA integrity_check). Such a row was
/// written under an older schema, while constraints were off, or by SQLite itself.
struct Complaints {
    /// The number of complaints about each damage and the first ones word for word, by the text without its
    /// numbers.
    ///
    /// Pages and rows have other numbers after a copy was migrated.
    private var damaged: [String: (count: Int, examples: [String])] = [:]
    /// The number of rows that break a constraint, by the text, which names the table or the column.
    private var broken: [String: Int] = [:]

    /// Runs a check to its end, on a connection from which the modules of virtual tables were removed.
    ///
    /// If the database is too broken for the check, that is a complaint, too. Damage has to be found twice: a
    /// check goes on after a page that the disk failed to read, and complains about it as if it were damaged.
    init(_ check: SQLiteStore.Check, of db: SQLiteConnection) throws(SQLError) {
        try self.init(of: db, once: check)
        if !damaged.isEmpty { try self.init(of: db, once: check) }
    }

    private init(of db: SQLiteConnection, once check: SQLiteStore.Check) throws(SQLError) {
        guard let pragma = check.pragma else { return }
        do throws(SQLError) {
            try addComplaints(of: "PRAGMA main.\(pragma)(\(Int32.max))", on: db)
            try dropFalseOnes(of: db)
        } catch {
            switch error.code {
            case .damaged:
                broken = [:]
                damaged = [error.message: (1, [error.message])]
            case .statementFailed: try checkEachTable(by: pragma, after: error, on: db)
            default: throw error
            }
        }
    }

    /// Checks the schema and each ordinary table by itself, since the check of the whole database failed.
    ///
    /// One table can have a collation that only the app's connection knows. Damage of the others counts. If
    /// there is none, nobody knows whether the database is sound, and the error of the whole check is thrown.
    private mutating func checkEachTable(
        by pragma: String,
        after failure: SQLError,
        on db: SQLiteConnection
    ) throws(SQLError) {
        broken = [:]
        damaged = [:]
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
            add(text)
        }
    }

    /// Throws if a complaint has the code of a failure that says nothing about the page, such as that of the
    /// disk.
    ///
    /// These complaints end in "error code=266" or "error code 10".
    static func checkForFailure(_ complaint: Substring) throws(SQLError) {
        let words = complaint.split { $0 == " " || $0 == "=" }
        guard words.dropLast().suffix(2) == ["error", "code"], let code = words.last.flatMap({ Int32($0) })
        else { return }
        if code & 0xFF == SQLITE_CORRUPT { return }
        throw SQLError(.fileFailure, "A page could not be read: \(complaint)").with {
            $0.extendedResultCode = code
        }
    }

    private mutating func add(_ text: String) {
        if text == "ok" { return }
        if Self.affinities.contains(where: text.hasPrefix) { return }
        if Self.constraints.contains(where: text.hasPrefix) { return broken[text, default: 0] += 1 }
        // All complaints about pages are in one row, below a headline.
        for line in text.split(separator: "\n") where !line.hasPrefix("*** in database ") { addDamage(line) }
    }

    private mutating func addDamage(_ line: Substring) {
        let words = line.split(separator: " ").map { word in
            word.allSatisfy { $0.isNumber || ":,".contains($0) } ? "#" : word
        }
        var group = damaged[words.joined(separator: " ")] ?? (0, [])
        group.count += 1
        if group.count <= 3 { group.examples.append(String(line)) }
        damaged[words.joined(separator: " ")] = group
    }

    /// Complaints about values that their columns would convert, which are ignored.
    ///
    /// `ALTER TABLE … ADD COLUMN flag TEXT DEFAULT TRUE` writes such values.
    private static let affinities = ["NUMERIC value in ", "TEXT value in "]

    private static let constraints =
        ["NULL value in ", "CHECK constraint failed in "]
        + ["BLOB", "INT", "INTEGER", "REAL", "TEXT"].map { "non-\($0) value in " }

    /// The first complaints about damage, for an error; `nil` if there is none.
    var damage: String? {
        let examples = damaged.sorted { $0.key < $1.key }.flatMap(\.value.examples)
        return examples.isEmpty ? nil : examples.prefix(3).joined(separator: "; ")
    }

    var isEmpty: Bool { damaged.isEmpty && broken.isEmpty }

    /// Drops complaints that are wrong.
    ///
    /// SQLite 3.40 reports a NULL in a sound WITHOUT ROWID table that has a column before its key.
    private mutating func dropFalseOnes(of db: SQLiteConnection) throws(SQLError) {
        for text in broken.keys.filter({ $0.hasPrefix(Self.constraints[0]) }) {
            let column = SQLValue.text(String(text.dropFirst(Self.constraints[0].count)))
            // For a NOT NULL column, SQLite treats `IS NULL` as false and reads nothing.
            let looks = try db.texts(
                """
                SELECT printf('SELECT 1 FROM main."%w" WHERE typeof("%w") = ''null'' LIMIT 1', t.name, c.name)
                FROM main.sqlite_master AS t, pragma_table_xinfo(t.name) AS c
                WHERE t.type = 'table' AND t.name || '.' || c.name = \(column)
                """
            )
            // If the column isn't found, the complaint stays.
            var isTrue = looks.isEmpty
            for look in looks where try !db.query(look).isEmpty { isTrue = true }
            if !isTrue { broken[text] = nil }
        }
    }

    /// The complaints that `before` doesn't have, as an error; `nil` if there are none.
    ///
    /// Rows that break a constraint are counted over all tables, because a table may have been renamed.
    func added(since before: Complaints) -> SQLError? {
        var new = self
        new.damaged = damaged.filter { $0.value.count > before.damaged[$0.key]?.count ?? 0 }
        if let damage = new.damage {
            let message = "The migrated copy is damaged, and was not put in the store's place: \(damage)"
            return SQLError(.damaged, message)
        }
        for constraint in Self.constraints where count(of: constraint) > before.count(of: constraint) {
            let texts = broken.keys.filter { $0.hasPrefix(constraint) && broken[$0] != before.broken[$0] }
            return SQLError(
                .constraintViolation,
                "The migrated copy was not put in the store's place, since rows of it break a constraint: "
                    + texts.sorted().prefix(3).joined(separator: "; ")
            )
        }
        return nil
    }

    private func count(of constraint: String) -> Int {
        broken.reduce(0) { $1.key.hasPrefix(constraint) ? $0 + $1.value : $0 }
    }
}

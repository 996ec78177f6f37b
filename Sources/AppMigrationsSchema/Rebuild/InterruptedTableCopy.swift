public import AppMigrationsSQLite

/// A table that was copied by hand, in a copy that may not have come to its end.
///
/// A well-known recipe changes a table in four steps: it renames `note` to `note_bak`, creates the new `note`,
/// copies the rows, and drops `note_bak`. If the process dies in between, `note_bak` stays behind, next to a
/// `note` that is missing, empty or half full. Views, triggers, indexes and foreign keys may have followed the
/// renamed table.
///
/// | state | what ``recover(_:choosing:)`` does |
/// | --- | --- |
/// | ``State/none`` | It changes nothing. |
/// | ``State/namesOnly`` | Views, triggers and foreign keys that name the backup name the table again. |
/// | ``State/backupOnly`` | The backup becomes the table again. |
/// | ``State/incomplete`` | The backup becomes the table again. The incomplete table is kept as `note_kept`. |
/// | ``State/undecided`` | It throws, unless you choose. The table that you don't choose is kept as `note_kept`. |
///
/// No row is ever deleted. Indexes, views, triggers and foreign keys belong to the table again afterwards, and the
/// counter of `AUTOINCREMENT` is the higher one of both tables. What the recipe itself has lost can't be
/// recovered, for example indexes that were dropped with the backup.
///
/// Do this before any migration that names the table, best in a migration of its own. A rebuild of a half-full
/// table would succeed, and nobody would notice the missing rows.
public struct InterruptedTableCopy: Sendable {
    /// The traces that a copy has left in a database.
    public enum State: Sendable, Hashable {
        /// There is no backup, and nothing names one.
        case none

        /// There is no backup, but views, triggers or foreign keys still name it.
        case namesOnly

        /// The backup exists, and the table doesn't.
        case backupOnly

        /// Both exist, and the backup has everything that the table has: the table is empty, or some of its
        /// rows were copied.
        case incomplete

        /// Both exist, and the table has rows or values that the backup lacks.
        ///
        /// The app may have used the table after the copy, or the copy has changed values.
        case undecided
    }

    /// The table whose rows are the right ones.
    public enum Choice: Sendable, Hashable {
        /// The table, which the app has used since the copy.
        case table

        /// The backup, because the copy was never completed.
        case backup
    }

    private let table: SQLName
    private let backup: SQLName

    /// Describes the copy; nothing is read or checked yet.
    ///
    /// - Parameters:
    ///   - table: The name of the table that was copied.
    ///   - backup: The name to which the recipe renames it; `nil` for the table's name with `_bak` at its end.
    public init(of table: String, backup: String? = nil) {
        self.table = SQLName(table)
        self.backup = SQLName(backup ?? table + "_bak")
    }

    /// Finds out what the copy has left.
    ///
    /// It compares the rows of both tables in all columns that both have. A value in another column of the
    /// table counts as a change, unless it is the column's default.
    ///
    /// - Throws: `SQLError` of SQLite, for example `SQLError.Code.busy`.
    public func state(in db: some SQLConnection) throws(SQLError) -> State {
        let hasTable = try isTable(table, in: db)
        guard try isTable(backup, in: db) else {
            let sql = "SELECT 1 FROM main.sqlite_master WHERE instr(sql, \(literal(backup.quoted))) > 0"
            if !hasTable { return .none }
            return try db.rows(sql).isEmpty ? .none : .namesOnly
        }
        if !hasTable { return .backupOnly }
        return try isIncomplete(in: db) ? .incomplete : .undecided
    }

    /// Lets the database have one table again, with the right rows.
    ///
    /// Outside of a transaction it turns foreign keys off, begins one, commits, and turns them on again. In a
    /// transaction, such as a migration's, foreign keys must be off already: a migrator sees to it.
    ///
    /// - Parameters:
    ///   - db: A connection to SQLite, of this library or another.
    ///   - choice: The table whose rows are the right ones, if both exist. `nil` takes the backup if the state is
    ///     ``State/incomplete``, and throws if it is ``State/undecided``.
    /// - Returns: The state that was found.
    /// - Throws: `SQLError`, after which the database is as it was: `SQLError.Code.undecidedCopy` if you have to
    ///   choose, `SQLError.Code.foreignKeyViolation` for rows that would refer to a missing row, and SQLite's
    ///   own errors.
    @discardableResult
    public func recover(_ db: some SQLConnection, choosing choice: Choice? = nil) throws(SQLError) -> State {
        var state = State.none
        do throws(SQLError) {
            if try self.state(in: db) == .none { return .none }
            try SchemaTransaction.run(on: db) { () throws(SQLError) in
                // Another process may have recovered it in the meantime.
                state = try self.state(in: db)
                if state == .none { return }
                if state == .undecided, choice == nil { throw undecidedError }
                try recover(db, from: state, keepingTable: choice == .table)
            }
            return state
        } catch {
            throw error.with { $0.message = "Recovering the table \(table): \($0.message)" }
        }
    }

    private var undecidedError: SQLError {
        SQLError(
            .undecidedCopy,
            "\(backup) exists, and \(table) has rows or values that it lacks, so the rows of either can be the right ones"
        )
    }
}

extension InterruptedTableCopy {
    private func recover(
        _ db: some SQLConnection,
        from state: State,
        keepingTable keepsTable: Bool
    ) throws(SQLError) {
        let hasBoth = state == .incomplete || state == .undecided
        let kept = try unusedName(in: db)
        // Views and triggers are dropped, and created again with the right names. SQLite would compile them when a
        // table is renamed, and some don't compile at the moment.
        let texts = [table, backup].flatMap { [$0.text, String($0.quoted.dropFirst().dropLast())] }
        let named = texts.map { "instr(lower(sql), lower(\(literal($0)))) > 0" }.joined(separator: " OR ")
        var lost = try drop("type IN ('view', 'trigger') AND (\(named))", from: db, keptAs: kept)
        if hasBoth {
            let loser = keepsTable ? backup : table
            try db.rows("ALTER TABLE main.\(loser.quoted) RENAME TO \(kept.quoted)")
            let indexes = try drop(
                "type = 'index' AND tbl_name = \(literal(kept.text)) COLLATE NOCASE",
                from: db,
                keptAs: kept
            )
            // The indexes of the backup were those of the table. The table that lost had none of its own, or new ones.
            if keepsTable { lost = indexes + lost }
        }
        if state == .backupOnly || hasBoth && !keepsTable {
            try db.rows("ALTER TABLE main.\(backup.quoted) RENAME TO \(table.quoted)")
        }
        try renameReferences(in: db, keptAs: kept)
        for statement in lost { try db.rows(statement) }
        try raiseCounter(in: db, keptAs: kept)
    }

    /// Drops objects, and returns the statements that create them again.
    private func drop(
        _ condition: String,
        from db: some SQLConnection,
        keptAs kept: SQLName
    ) throws(SQLError) -> [String] {
        let found = try db.rows(
            """
            SELECT type, name, \(renamed(kept)) FROM main.sqlite_master
            WHERE sql IS NOT NULL AND \(condition) ORDER BY rowid
            """
        )
        var statements: [String] = []
        for row in found {
            let name = SQLName(try row.text(1))
            // A view takes its triggers with it.
            try db.rows("DROP \(try row.text(0)) IF EXISTS main.\(name.quoted)")
            statements.append(try row.text(2))
        }
        return statements
    }

    /// Lets the foreign keys of other tables refer to the table again.
    ///
    /// The recipe's rename has changed their texts. SQLite can't change a foreign key, so these tables are rebuilt.
    private func renameReferences(in db: some SQLConnection, keptAs kept: SQLName) throws(SQLError) {
        let isKept = "name = \(literal(kept.text)) COLLATE NOCASE"
        // A kept table that refers to itself goes on doing so.
        let own = "replace(sql, \(literal(backup.quoted)), \(literal(kept.quoted)))"
        let children = try db.rows(
            """
            SELECT name, new FROM (
                SELECT name, sql, CASE WHEN \(isKept) THEN \(own) ELSE \(renamed(kept)) END AS new FROM main.sqlite_master
                WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'
            ) WHERE sql <> new
            """
        )
        for child in children { try TableRebuild(child.text(0), as: child.text(1)).run(db) }
    }

    /// Lets the counter of `AUTOINCREMENT` be the higher one of both tables, so that no number is used twice.
    private func raiseCounter(in db: some SQLConnection, keptAs kept: SQLName) throws(SQLError) {
        if try !isTable(SQLName("sqlite_sequence"), in: db) { return }
        let (name, other) = (literal(table.text), literal(kept.text))
        try db.rows(
            """
            INSERT INTO main.sqlite_sequence SELECT \(name), seq FROM main.sqlite_sequence
            WHERE name = \(other) AND \(name) NOT IN (SELECT name FROM main.sqlite_sequence)
            """
        )
        try db.rows(
            """
            UPDATE main.sqlite_sequence SET seq = (
                SELECT max(seq) FROM main.sqlite_sequence WHERE name IN (\(name), \(other))
            ) WHERE name = \(name)
            """
        )
    }
}

// Questions about the two tables.
extension InterruptedTableCopy {
    /// True if the table has no row and no value that the backup lacks.
    private func isIncomplete(in db: some SQLConnection) throws(SQLError) -> Bool {
        let columns = try db.rows(
            "SELECT name, dflt_value FROM pragma_table_info(\(literal(table.text)), 'main')"
        )
        let old = try db.rows("SELECT name FROM pragma_table_info(\(literal(backup.text)), 'main')")
        var oldNames = Set<SQLName>()
        for row in old { oldNames.insert(SQLName(try row.text(0))) }
        var shared: [String] = []
        var changes = ["0"]
        for column in columns {
            let name = SQLName(try column.text(0))
            if oldNames.contains(name) {
                // A column's own collation can treat "a" and "A" as equal.
                shared.append("\(name.quoted) COLLATE BINARY")
            } else {
                var value = "NULL"
                if case .text(let expression) = column[1] { value = expression }
                changes.append("\(name.quoted) IS NOT (\(value)\n)")
            }
        }
        let (table, backup) = ("main.\(table.quoted)", "main.\(backup.quoted)")
        if shared.isEmpty { return try db.rows("SELECT 1 FROM \(table) LIMIT 1").isEmpty }
        let list = shared.joined(separator: ", ")
        let sql = """
            SELECT 1 FROM (SELECT \(list) FROM \(table) EXCEPT SELECT \(list) FROM \(backup))
            UNION ALL SELECT 1 FROM \(table) WHERE \(changes.joined(separator: " OR "))
            UNION ALL SELECT 1 WHERE (SELECT count(*) FROM \(table)) > (SELECT count(*) FROM \(backup))
            LIMIT 1
            """
        return try db.rows(sql).isEmpty
    }

    private func isTable(_ name: SQLName, in db: some SQLConnection) throws(SQLError) -> Bool {
        let sql =
            "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = \(literal(name.text)) COLLATE NOCASE"
        return try !db.rows(sql).isEmpty
    }

    /// A name for the table that loses, which nothing has yet.
    private func unusedName(in db: some SQLConnection) throws(SQLError) -> SQLName {
        var taken = Set<SQLName>()
        for row in try db.rows("SELECT name FROM main.sqlite_master") {
            taken.insert(SQLName(try row.text(0)))
        }
        var name = SQLName(table.text + "_kept")
        var number = 2
        while taken.contains(name) {
            name = SQLName("\(table.text)_kept_\(number)")
            number += 1
        }
        return name
    }

    /// An SQL expression for the text of an object, in which the backup's name is the table's again.
    ///
    /// When SQLite renames a table, it writes the new name in double quotes into the texts of other objects.
    private func renamed(_ kept: SQLName) -> String {
        let first = "replace(sql, \(literal(backup.quoted)), \(literal(table.quoted)))"
        return "replace(\(first), \(literal(kept.quoted)), \(literal(table.quoted)))"
    }

    private func literal(_ text: String) -> String { text.quoted(with: "'") }
}

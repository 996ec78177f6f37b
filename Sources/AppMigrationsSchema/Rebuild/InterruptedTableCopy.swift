public import AppMigrationsSQLite

/// A table that was copied by hand, in a copy that may not have come to its end.
///
/// A well-known recipe changes a table in four steps: it renames `note` to `note_bak`, creates the new
/// `note`, copies the rows, and drops `note_bak`. If the process dies in between, `note_bak` stays behind,
/// next to a `note` that is missing, empty or half full. It also stays behind a copy that was completed, if
/// the last step failed. Views, triggers, indexes and foreign keys may have followed the renamed table.
///
/// | state | what ``recover(_:choosing:)`` does |
/// | --- | --- |
/// | ``State/none`` | It changes nothing. |
/// | ``State/namesOnly`` | Views, triggers and foreign keys that name the backup name the table again. |
/// | ``State/backupOnly`` | The backup becomes the table again. |
/// | ``State/subset``, ``State/diverged`` | The table that you choose is the table. The other one is kept as `note_kept`. Without a choice it throws. |
///
/// If both tables exist, the database doesn't tell which one has the right rows: rows that the table lacks
/// were either never copied, or copied and deleted since. Only your app knows, for example by the version
/// that it saves after the copy.
///
/// No row is ever deleted. Indexes, views, triggers and foreign keys belong to the table again afterwards,
/// and the counter of `AUTOINCREMENT` is the higher one of both tables. What the recipe itself has lost can't
/// be recovered, for example indexes that were dropped with the backup.
///
/// Do this before any migration that names the table, best in a migration of its own. If a half-full table is
/// rebuilt first, the rebuild succeeds, and the rows that are missing in it go unnoticed.
public struct InterruptedTableCopy: Sendable {
    /// The traces that a copy has left in a database.
    public enum State: Sendable, Hashable {
        /// There is no backup, and nothing names one.
        case none

        /// There is no backup, but views, triggers or foreign keys still name it.
        case namesOnly

        /// The backup exists, and the table doesn't.
        case backupOnly

        /// Both exist, and the backup has every row and value of the table.
        ///
        /// The table is empty, or has some or all of the rows. Either the copy was interrupted, or it was
        /// completed, and rows were deleted since.
        case subset

        /// Both exist, and the table has rows or values that the backup lacks.
        ///
        /// The app may have used the table after the copy, or the copy has changed values. A new column
        /// counts as a changed value if its default is another one each time, such as `CURRENT_TIMESTAMP`.
        case diverged
    }

    /// The table whose rows are the right ones.
    public enum Choice: Sendable, Hashable {
        /// The table, because the copy was completed.
        ///
        /// The app has used it since.
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
    ///   - backup: The name to which the recipe renames it; `nil` for the table's name with `_bak` at its
    ///     end.
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
            if !hasTable { return .none }
            return try isBackupNamed(in: db) ? .namesOnly : .none
        }
        if !hasTable { return .backupOnly }
        return try isSubset(in: db) ? .subset : .diverged
    }

    /// Lets the database have one table again, with the right rows.
    ///
    /// Outside of a transaction it turns foreign keys off, begins one, commits, and turns them on again. In a
    /// transaction, such as a migration's, foreign keys must be off already: a migrator sees to it.
    ///
    /// - Parameters:
    ///   - db: A connection to SQLite: an `SQLiteConnection`, or one of another library that conforms to
    ///     `SQLConnection`.
    ///   - choice: The table whose rows are the right ones, if both exist. It doesn't matter in the other
    ///     states.
    /// - Returns: The state that was found.
    /// - Throws: `SQLError`, after which the database is as it was: `SQLError.Code.undecidedCopy` if both
    ///   tables exist and `choice` is `nil`, `SQLError.Code.foreignKeyViolation` for rows that would refer to
    ///   a missing row, and SQLite's own errors.
    @discardableResult
    public func recover(_ db: some SQLConnection, choosing choice: Choice? = nil) throws(SQLError) -> State {
        var state = State.none
        do throws(SQLError) {
            if try self.state(in: db) == .none { return .none }
            try SchemaTransaction.run(on: db) { () throws(SQLError) in
                // Another process may have recovered it in the meantime.
                state = try self.state(in: db)
                if state == .none { return }
                if state.hasBoth, choice == nil { throw undecidedError(state) }
                try recover(db, from: state, keepingTable: choice == .table)
            }
            return state
        } catch {
            throw error.with { $0.message = "Recovering the table \(table): \($0.message)" }
        }
    }

    private func undecidedError(_ state: State) -> SQLError {
        let reason =
            switch state {
            case .diverged:
                "has rows or values that it lacks, so the rows of either can be the right ones"
            default:
                "has nothing that it lacks: either the copy was interrupted, or rows were deleted since"
            }
        return SQLError(.undecidedCopy, "\(backup) exists, and \(table) \(reason)")
    }
}

extension InterruptedTableCopy {
    private func recover(
        _ db: some SQLConnection,
        from state: State,
        keepingTable keepsTable: Bool
    ) throws(SQLError) {
        let kept = try unusedName(in: db)
        // Views and triggers are dropped, and created again with the right names. SQLite would compile them
        // when a table is renamed, and some don't compile at the moment.
        let texts = [table, backup].flatMap { [$0.text, String($0.quoted.dropFirst().dropLast())] }
        let named = texts.map { "instr(lower(sql), lower(\(literal($0)))) > 0" }.joined(separator: " OR ")
        var lost = try drop("type IN ('view', 'trigger') AND (\(named))", from: db, keptAs: kept)
        if state.hasBoth {
            let loser = keepsTable ? backup : table
            try db.rows("ALTER TABLE main.\(loser.quoted) RENAME TO \(kept.quoted)")
            let indexes = try drop(
                "type = 'index' AND tbl_name = \(literal(kept.text)) COLLATE NOCASE",
                from: db,
                keptAs: kept
            )
            // The indexes of the backup were those of the table. The table that lost had none of its own, or
            // new ones.
            if keepsTable { lost = indexes + lost }
        }
        if state == .backupOnly || state.hasBoth && !keepsTable {
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
            SELECT type, name, sql FROM main.sqlite_master
            WHERE sql IS NOT NULL AND \(condition) ORDER BY rowid
            """
        )
        var statements: [String] = []
        for row in found {
            let name = SQLName(try row.text(1))
            // A view takes its triggers with it.
            try db.rows("DROP \(try row.text(0)) IF EXISTS main.\(name.quoted)")
            statements.append(renaming([backup, kept], to: table, in: try row.text(2)))
        }
        return statements
    }

    /// Lets the foreign keys of other tables refer to the table again.
    ///
    /// The recipe's rename has changed their texts. SQLite can't change a foreign key, so these tables are
    /// rebuilt.
    private func renameReferences(in db: some SQLConnection, keptAs kept: SQLName) throws(SQLError) {
        let tables = try db.rows(
            """
            SELECT name, sql FROM main.sqlite_master
            WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'
            """
        )
        for row in tables {
            let name = SQLName(try row.text(0))
            let sql = try row.text(1)
            // A kept table that refers to itself goes on doing so.
            let new =
                name == kept
                ? renaming([backup], to: kept, in: sql) : renaming([backup, kept], to: table, in: sql)
            if new != sql { try TableRebuild(name.text, as: new).run(db) }
        }
    }

    /// Lets the counter of `AUTOINCREMENT` be the higher one of both tables, so that no number is used twice.
    private func raiseCounter(in db: some SQLConnection, keptAs kept: SQLName) throws(SQLError) {
        if try !isTable(SQLName("sqlite_sequence"), in: db) { return }
        for statement in AutoincrementCounter.raising(of: table, toThatOf: kept) { try db.rows(statement) }
    }
}

// Questions about the two tables.
extension InterruptedTableCopy {
    /// True if the table has no row and no value that the backup lacks.
    private func isSubset(in db: some SQLConnection) throws(SQLError) -> Bool {
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
        let table = "main.\(table.quoted)"
        let backup = "main.\(backup.quoted)"
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

    /// True if a view, a trigger or a foreign key names the backup.
    private func isBackupNamed(in db: some SQLConnection) throws(SQLError) -> Bool {
        for row in try db.rows("SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL") {
            let sql = try row.text(0)
            if renaming([backup], to: table, in: sql) != sql { return true }
        }
        return false
    }

    /// The text of an object with another table's name for some.
    ///
    /// When SQLite renames a table, it writes the new name in double quotes into the texts of other objects.
    /// So only names in double quotes are replaced, and no text or comment that has the same characters.
    private func renaming(_ names: [SQLName], to new: SQLName, in sql: String) -> String {
        let tokens = SQLTokens(sql)
        var result = ""
        var end = 0
        for (index, token) in tokens.tokens.enumerated() where token.kind == .quoted {
            guard let name = tokens.name(index), names.contains(name) else { continue }
            result += tokens.text(in: end..<token.range.lowerBound) + new.quoted
            end = token.range.upperBound
        }
        return result + tokens.text(in: end..<tokens.count)
    }

    private func literal(_ text: String) -> String { text.quoted(with: "'") }
}

extension InterruptedTableCopy.State {
    fileprivate var hasBoth: Bool { self == .subset || self == .diverged }
}

public import AppMigrationsSQLite

/// A table that an app's own code was copying when it was interrupted.
///
/// A well-known recipe changes a table in four steps: it renames `note` to `note_bak`, creates the new
/// `note`, copies the rows, and drops `note_bak`. If the process dies in between, `note_bak` is left, next to
/// a `note` that is missing, empty or half full. `note_bak` is also left if the copy was completed and only
/// the last step failed. Views, triggers, indexes and foreign keys may now refer to `note_bak`, because
/// SQLite updates them when it renames a table.
///
/// What ``recover(_:choosing:)`` does depends on the state:
///
/// - ``State/none``: It changes nothing.
/// - ``State/namesOnly``: Views, triggers and foreign keys that refer to the backup are changed to refer to
///   the table.
/// - ``State/backupOnly``: The backup becomes the table again.
/// - ``State/subset``, ``State/diverged``: The table that you choose becomes `note`. The other one is kept as
///   `note_kept`. Without a choice, the call throws.
///
/// If both tables exist, nothing in the database shows which one has the right rows. Rows that the table
/// lacks were either never copied, or they were copied and deleted later. Only your app knows, for example by
/// the version that it saves after the copy.
///
/// No row is ever deleted. Afterwards, indexes, views, triggers and foreign keys belong to the table again,
/// and the counter of `AUTOINCREMENT` is the higher one of both tables. What the recipe itself has lost can't
/// be recovered, for example indexes that were dropped with the backup.
///
/// Recover before any migration that uses the table. If a half-full table is rebuilt first, the rebuild
/// succeeds, and nobody notices the missing rows. If the recipe is itself a numbered migration, replace that
/// migration with a closure of the same version. The guide *Changing a table* has this closure. Otherwise
/// recover in a migration of its own.
public struct InterruptedTableCopy: Sendable {
    /// The traces that a copy has left in a database.
    public enum State: Sendable, Hashable {
        /// There is no backup, and nothing refers to one.
        case none

        /// There is no backup, but views, triggers or foreign keys still refer to it.
        case namesOnly

        /// The backup exists, and the table doesn't.
        case backupOnly

        /// Both exist, and the backup has every row and value of the table.
        ///
        /// The table is empty, or has some or all of the rows. Either the copy was interrupted, or it was
        /// completed and rows were deleted later.
        case subset

        /// Both exist, and the table has rows or values that the backup lacks.
        ///
        /// The app may have used the table after the copy, or the copy has changed values. A new column
        /// counts as a changed value if its default isn't constant, such as `CURRENT_TIMESTAMP`.
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
            return try hasReferencesToBackup(in: db) ? .namesOnly : .none
        }
        if !hasTable { return .backupOnly }
        return try isSubset(in: db) ? .subset : .diverged
    }

    /// Restores a single table with the right rows.
    ///
    /// Outside a transaction, the method turns foreign keys off, runs a transaction of its own, and turns
    /// them on again. In a transaction, such as a migration's, foreign keys must already be off. A migrator
    /// turns them off itself.
    ///
    /// - Parameters:
    ///   - db: A connection to SQLite: an `SQLiteConnection`, or one of another library that conforms to
    ///     `SQLConnection`.
    ///   - choice: The table whose rows are the right ones, if both exist. It doesn't matter in the other
    ///     states.
    /// - Returns: The state that was found.
    /// - Throws: `SQLError`; the database is then unchanged. `SQLError.Code.undecidedCopy` if both tables
    ///   exist and `choice` is `nil`, `SQLError.Code.foreignKeyViolation` if rows would refer to a missing
    ///   row and didn't do so before, and SQLite's own errors.
    @discardableResult
    public func recover(_ db: some SQLConnection, choosing choice: Choice? = nil) throws(SQLError) -> State {
        var state = State.none
        do throws(SQLError) {
            if try self.state(in: db) == .none { return .none }
            try SchemaTransaction.run(on: db) { () throws(SQLError) in
                // Another process may have recovered the table before this transaction began.
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
                "has rows or values that \(backup) lacks, so either may have the right rows"
            default:
                "has only rows that \(backup) has, too: either the copy was interrupted, or rows were deleted later"
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
        let setAsideName = try unusedName(in: db)
        // Views and triggers are dropped now and created again with the right names at the end. Otherwise
        // SQLite would compile them when a table is renamed, and some of them don't compile at this point.
        let spellings = [table, backup].flatMap { [$0.text, String($0.quoted.dropFirst().dropLast())] }
        let isNamed = spellings.map { "instr(lower(sql), lower(\(literal($0)))) > 0" }.joined(
            separator: " OR "
        )
        var statements = try drop(
            "type IN ('view', 'trigger') AND (\(isNamed))",
            from: db,
            setAsideName: setAsideName
        )
        if state.hasBoth {
            let setAside = keepsTable ? backup : table
            try db.rows("ALTER TABLE main.\(setAside.quoted) RENAME TO \(setAsideName.quoted)")
            let indexes = try drop(
                "type = 'index' AND tbl_name = \(literal(setAsideName.text)) COLLATE NOCASE",
                from: db,
                setAsideName: setAsideName
            )
            // When the recipe renamed the table, its indexes became indexes of the backup. If the table is
            // chosen, these indexes are created again on the table. If the backup is chosen, it still has
            // them. Then the dropped indexes are the ones that the recipe created on the new table, and they
            // aren't created again.
            if keepsTable { statements = indexes + statements }
        }
        if state == .backupOnly || state.hasBoth && !keepsTable {
            try db.rows("ALTER TABLE main.\(backup.quoted) RENAME TO \(table.quoted)")
        }
        try renameReferences(in: db, setAsideName: setAsideName)
        for statement in statements { try db.rows(statement) }
        try raiseCounter(in: db, setAsideName: setAsideName)
    }

    /// Drops the objects of `sqlite_master` that satisfy a condition.
    ///
    /// - Returns: The statements that create them again with the table's name.
    private func drop(
        _ condition: String,
        from db: some SQLConnection,
        setAsideName: SQLName
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
            // IF EXISTS, because dropping a view also drops its triggers.
            try db.rows("DROP \(try row.text(0)) IF EXISTS main.\(name.quoted)")
            statements.append(renaming([backup, setAsideName], to: table, in: try row.text(2)))
        }
        return statements
    }

    /// Makes the foreign keys of other tables refer to the table again.
    ///
    /// The recipe's rename has changed their texts. SQLite can't change a foreign key, so these tables are
    /// rebuilt.
    private func renameReferences(in db: some SQLConnection, setAsideName: SQLName) throws(SQLError) {
        let tables = try db.rows(
            """
            SELECT name, sql FROM main.sqlite_master
            WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'
            """
        )
        for row in tables {
            let name = SQLName(try row.text(0))
            let sql = try row.text(1)
            // A foreign key of the table that is set aside may refer to that table itself.
            let new =
                name == setAsideName
                ? renaming([backup], to: setAsideName, in: sql)
                : renaming([backup, setAsideName], to: table, in: sql)
            if new != sql { try TableRebuild(name.text, as: new).run(db) }
        }
    }

    /// Raises the counter of `AUTOINCREMENT` to the higher one of both tables, so that no number is used
    /// twice.
    private func raiseCounter(in db: some SQLConnection, setAsideName: SQLName) throws(SQLError) {
        if try !isTable(SQLName("sqlite_sequence"), in: db) { return }
        for statement in AutoincrementCounter.statements(raising: table, toCounterOf: setAsideName) {
            try db.rows(statement)
        }
    }
}

// Questions about the two tables.
extension InterruptedTableCopy {
    /// True if the table has no row and no value that the backup lacks.
    ///
    /// The query looks for a row that the backup lacks, for a value in a new column that isn't the column's
    /// default, and for more rows than the backup has.
    private func isSubset(in db: some SQLConnection) throws(SQLError) -> Bool {
        let columns = try db.rows(
            "SELECT name, dflt_value FROM pragma_table_info(\(literal(table.text)), 'main')"
        )
        let old = try db.rows("SELECT name FROM pragma_table_info(\(literal(backup.text)), 'main')")
        var oldNames = Set<SQLName>()
        for row in old { oldNames.insert(SQLName(try row.text(0))) }
        var shared: [String] = []
        // The conditions for a value in a new column that isn't the column's default.
        var changes = ["0"]
        for column in columns {
            let name = SQLName(try column.text(0))
            // A column's own collation can treat "a" and "A" as equal.
            let exact = "\(name.quoted) COLLATE BINARY"
            if oldNames.contains(name) {
                shared.append(exact)
            } else {
                var value = "NULL"
                if case .text(let text) = column[1] { value = expression(ofDefault: text) }
                changes.append("\(exact) IS NOT (\(value)\n)")
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

    /// A column's default as an expression for a query.
    ///
    /// SQLite treats a default that is one name, such as `DEFAULT red`, as a string. In a query, the same
    /// name would mean a column.
    private func expression(ofDefault text: String) -> String {
        let tokens = SQLTokens(text)
        let values: [StaticString] = [
            "NULL", "TRUE", "FALSE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
        ]
        if tokens.tokens.count != 1 || values.contains(where: { tokens.isWord(0, $0) }) { return text }
        return tokens.name(0).map { literal($0.text) } ?? text
    }

    private func isTable(_ name: SQLName, in db: some SQLConnection) throws(SQLError) -> Bool {
        let sql =
            "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = \(literal(name.text)) COLLATE NOCASE"
        return try !db.rows(sql).isEmpty
    }

    /// An unused name for the table that is set aside.
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

    /// True if a view, a trigger or a foreign key refers to the backup.
    private func hasReferencesToBackup(in db: some SQLConnection) throws(SQLError) -> Bool {
        for row in try db.rows("SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL") {
            let sql = try row.text(0)
            if renaming([backup], to: table, in: sql) != sql { return true }
        }
        return false
    }

    /// The `CREATE` statement in which each of `names` that is in double quotes is replaced with `new`.
    ///
    /// When SQLite renames a table, it writes the new name in double quotes into the statements of other
    /// objects. So only names in double quotes are replaced. String literals and comments with the same
    /// characters aren't.
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

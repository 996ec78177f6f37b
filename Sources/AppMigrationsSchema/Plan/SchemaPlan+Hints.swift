internal import AppMigrationsSQLite

extension SchemaPlan {
    /// The answers to the questions of a plan.
    ///
    /// They stay in the code for good: an answer that a database no longer needs is ignored. Names are
    /// compared as SQLite does, in any case of ASCII letters.
    public struct Hints: Sendable {
        /// The new name of a table, by its old one.
        public var renamedTables: [String: String]

        /// The new name of a column, by its old one, by the table's name in the target.
        public var renamedColumns: [String: [String: String]]

        /// The expression that gives a column its value, by the column, by the table's name in the target.
        ///
        /// It uses the old names of columns and the target's names of tables, and reads the rows of each
        /// table as they were before the plan. It is used only for a column that is new, that becomes `NOT
        /// NULL`, or that gets a type which converts or refuses values. So an old hint changes nothing again.
        /// If the expression doesn't use the column itself, only rows without a value get it, and it answers
        /// no question about a conversion. An expression that uses the column and returns NULL for a row
        /// without a value, such as `trim(title)`, says how values are converted, and not what such rows get.
        ///
        /// The column's own name alone, `"title": "title"`, keeps every value, converted as SQLite does it.
        /// It answers each question about the column. ``SchemaPlan/apply(_:progress:)`` throws if a row can't
        /// keep its value, because it has none under a new `NOT NULL`, or one that a `STRICT` table refuses.
        /// The error names the row, and nothing is changed.
        public var values: [String: [String: String]]

        /// The tables that may be dropped with their rows.
        public var droppedTables: Set<String>

        /// The columns that may be dropped with their values, by the table's name in the target.
        ///
        /// Remove a column from the hints if a later release has a column of that name again. A plan refuses
        /// a hint to drop what the target has, because the hint would also answer for the new column once
        /// that is renamed.
        public var droppedColumns: [String: Set<String>]

        /// Answers some questions; the others stay open.
        ///
        /// - Parameters:
        ///   - renamedTables: `["old": "new"]`.
        ///   - renamedColumns: `["table": ["old": "new"]]`.
        ///   - values: `["table": ["column": "expression"]]`.
        ///   - droppedTables: `["table"]`.
        ///   - droppedColumns: `["table": ["column"]]`.
        public init(
            renamedTables: [String: String] = [:],
            renamedColumns: [String: [String: String]] = [:],
            values: [String: [String: String]] = [:],
            droppedTables: Set<String> = [],
            droppedColumns: [String: Set<String>] = [:]
        ) {
            self.renamedTables = renamedTables
            self.renamedColumns = renamedColumns
            self.values = values
            self.droppedTables = droppedTables
            self.droppedColumns = droppedColumns
        }
    }
}

extension SchemaPlan.Hints {
    func columns(of table: SQLName) -> [(old: SQLName, new: SQLName)] {
        Self.entries(of: renamedColumns, table).map { (SQLName($0.key), SQLName($0.value)) }
    }

    func value(of column: SQLName, in table: SQLName) -> String? {
        Self.entries(of: values, table).first { SQLName($0.key) == column }?.value
    }

    func allowsDrop(of table: SQLName) -> Bool { droppedTables.contains { SQLName($0) == table } }

    func allowsDrop(of column: SQLName, in table: SQLName) -> Bool {
        droppedColumns.contains { SQLName($0.key) == table && $0.value.contains { SQLName($0) == column } }
    }

    private static func entries(
        of hints: [String: [String: String]],
        _ table: SQLName
    ) -> [(key: String, value: String)] {
        hints.filter { SQLName($0.key) == table }.flatMap(\.value).sorted { $0.key < $1.key }
    }
}

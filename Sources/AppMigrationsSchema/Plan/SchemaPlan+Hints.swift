internal import AppMigrationsSQLite

extension SchemaPlan {
    /// The answers to the questions of a plan.
    ///
    /// They stay in the code for good: an answer that a database no longer needs is ignored. Names are
    /// compared as SQLite does, in any case of ASCII letters.
    public struct Hints: Sendable {
        /// The renamed tables: the new name by the old one.
        public var renamedTables: [String: String]

        /// The renamed columns, by the table's name in the target: the new name by the old one.
        public var renamedColumns: [String: [String: String]]

        /// The expressions that give columns their values, by the table's name in the target and the column's
        /// name.
        ///
        /// Write an expression with the old names of columns and the target's names of tables. It reads the
        /// rows of each table as they were before the plan. It is used only for a column that is new, that
        /// becomes `NOT NULL`, or that gets a type which converts or refuses values. So a hint that stays in
        /// the code isn't applied a second time.
        ///
        /// An expression that doesn't use the column itself is used only for rows in which the column is
        /// NULL, and doesn't answer a question about a conversion. An expression that uses the column and is
        /// NULL for such rows, such as `trim(title)`, answers only a question about a conversion.
        ///
        /// The column's own name alone, `"title": "title"`, keeps every value, converted as SQLite does it.
        /// It answers each question about the column. ``SchemaPlan/apply(_:progress:)`` throws if a row can't
        /// keep its value: it is NULL and the column becomes `NOT NULL`, or a `STRICT` table refuses it. The
        /// error names the row, and nothing is changed.
        public var values: [String: [String: String]]

        /// The tables that may be dropped with their rows.
        public var droppedTables: Set<String>

        /// The columns that may be dropped with their values, by the table's name in the target.
        ///
        /// Remove a column from the hints if a later release has a column of that name again. A plan refuses
        /// a hint to drop a column that the target has. Otherwise the old hint would also allow dropping the
        /// new column, if a later release renames it.
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
    func columnRenames(of table: SQLName) -> [(old: SQLName, new: SQLName)] {
        Self.entries(of: renamedColumns, in: table).map { (SQLName($0.key), SQLName($0.value)) }
    }

    func value(of column: SQLName, in table: SQLName) -> String? {
        Self.entries(of: values, in: table).first { SQLName($0.key) == column }?.value
    }

    func allowsDrop(of table: SQLName) -> Bool { droppedTables.contains { SQLName($0) == table } }

    func allowsDrop(of column: SQLName, in table: SQLName) -> Bool {
        droppedColumns.contains { SQLName($0.key) == table && $0.value.contains { SQLName($0) == column } }
    }

    private static func entries(
        of hints: [String: [String: String]],
        in table: SQLName
    ) -> [(key: String, value: String)] {
        hints.filter { SQLName($0.key) == table }.flatMap(\.value).sorted { $0.key < $1.key }
    }
}

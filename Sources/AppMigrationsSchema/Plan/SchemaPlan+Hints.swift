internal import AppMigrationsSQLite

extension SchemaPlan {
    /// The answers to the questions of a plan.
    ///
    /// They are written for good: an answer that a database no longer needs is not looked at. Names are as
    /// SQLite compares them, in any case of ASCII letters.
    public struct Hints: Sendable {
        /// The new name of a table, by its old one.
        public var renamedTables: [String: String]

        /// The new name of a column, by its old one, by the table's name in the target.
        public var renamedColumns: [String: [String: String]]

        /// The expression that gives a column its value, by the column, by the table's name in the target.
        ///
        /// It is in terms of the columns as they were and of the tables' names in the target, and what it reads of
        /// any table are the rows as they were. It is used for a column that is new, that becomes
        /// `NOT NULL` or that gets a type which converts or refuses values, and for no other: a hint that has served
        /// its turn changes nothing again. Where the expression does not use the column itself, only rows without a value get
        /// it, and it answers no question about a conversion. One that gives a row without a value none, as the column's
        /// name alone does, says how values are converted, and not what such rows get.
        public var values: [String: [String: String]]

        /// The tables that may go with their rows.
        public var droppedTables: Set<String>

        /// The columns that may go with what they hold, by the table's name in the target.
        ///
        /// A column that comes again in a later release has to be taken out: a plan refuses a hint to drop what the
        /// target has, since it would answer for the new column as well when the new column is renamed.
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

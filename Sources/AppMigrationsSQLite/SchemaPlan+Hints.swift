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
        /// It is in terms of the columns as they were. It is used for a column that is new, that becomes
        /// `NOT NULL` or that gets a type which converts values, and for no other: a hint that has served
        /// its turn changes nothing again.
        public var values: [String: [String: String]]

        /// What may be lost: `"table"`, or `"table.column"` with the table's name in the target.
        public var allowDrop: Set<String>

        /// Answers some questions; the others stay open.
        ///
        /// - Parameters:
        ///   - renamedTables: `["old": "new"]`.
        ///   - renamedColumns: `["table": ["old": "new"]]`.
        ///   - values: `["table": ["column": "expression"]]`.
        ///   - allowDrop: `["table", "table.column"]`.
        public init(
            renamedTables: [String: String] = [:],
            renamedColumns: [String: [String: String]] = [:],
            values: [String: [String: String]] = [:],
            allowDrop: Set<String> = []
        ) {
            self.renamedTables = renamedTables
            self.renamedColumns = renamedColumns
            self.values = values
            self.allowDrop = allowDrop
        }
    }
}

extension SchemaPlan.Hints {
    func columns(of table: SQLName) -> [(old: SQLName, new: SQLName)] {
        Self.entries(of: renamedColumns, table).map { (SQLName($0.key), SQLName($0.value)) }
    }

    /// The name that the target has, of a thing that was renamed once or again and again.
    static func last(
        of name: SQLName,
        in renames: [(old: SQLName, new: SQLName)],
        where isThere: (SQLName) -> Bool
    ) -> SQLName {
        var name = name
        // Each rename leads at most once further, also where they go round in a circle.
        for _ in renames where !isThere(name) {
            guard let next = renames.first(where: { $0.old == name }) else { break }
            name = next.new
        }
        return name
    }

    func value(of column: SQLName, in table: SQLName) -> String? {
        Self.entries(of: values, table).first { SQLName($0.key) == column }?.value
    }

    func allowsDrop(of table: SQLName) -> Bool { allowDrop.contains { SQLName($0) == table } }

    func allowsDrop(of column: SQLName, in table: SQLName) -> Bool {
        allowsDrop(of: SQLName("\(table).\(column)"))
    }

    private static func entries(
        of hints: [String: [String: String]],
        _ table: SQLName
    ) -> [(key: String, value: String)] {
        hints.filter { SQLName($0.key) == table }.flatMap(\.value).sorted { $0.key < $1.key }
    }
}

internal import AppMigrationsSQLite

extension SchemaPlan {
    /// A question that a plan can't answer, and the hint that does.
    public struct Question: Sendable, Hashable, CustomStringConvertible {
        /// The kinds of questions.
        ///
        /// More kinds can come with a later release: keep a `default` in a `switch`.
        public struct Kind: Sendable, Hashable, CustomStringConvertible {
            /// The name of the kind, as it is written in Swift.
            public let description: String

            private init(_ name: StaticString) { description = name.description }

            /// The target has no such table: it was renamed, or it is dropped.
            public static var droppedTable: Kind { Kind("droppedTable") }

            /// The target's table has no such column: it was renamed, or it is dropped.
            public static var droppedColumn: Kind { Kind("droppedColumn") }

            /// A virtual table changes.
            ///
            /// It has to be dropped and created again, which loses the rows that it stores itself.
            public static var replacedTable: Kind { Kind("replacedTable") }

            /// A column becomes a generated column, so its values are lost.
            public static var generatedColumn: Kind { Kind("generatedColumn") }

            /// A new column is `NOT NULL`, and has no default.
            public static var missingValue: Kind { Kind("missingValue") }

            /// A column becomes `NOT NULL`, and rows may have no value there.
            public static var emptyValues: Kind { Kind("emptyValues") }

            /// A column gets a type that can change its values.
            public static var convertedValues: Kind { Kind("convertedValues") }
        }

        /// The kind of question.
        public let kind: Kind

        /// The table's name in the target, or in the database if the target doesn't have it.
        public let table: String

        /// The column, if the question is about one.
        public let column: String?

        /// The tables or columns of the target that may be its new name; tables with the same columns come
        /// first.
        public let candidates: [String]

        /// The number of rows that would be lost with a table, or of rows with a value in a column that would
        /// be lost.
        ///
        /// `nil` for other questions, and for a full-text index that stores no rows of its own.
        public internal(set) var rowCount: Int64?

        /// Similar tables that both schemas have.
        ///
        /// The table of the question may be a copy of one of them that an app's code has left, such as
        /// `note_bak` of `note`.
        var similarTables = [String]()

        /// The tables that hold the rows of a full-text index; empty if the index stores rows of its own.
        var contentTables = [String]()

        /// The tables from which the plan fills the new full-text index.
        var newContentTables = [String]()

        /// An example of an expression that answers the question, with the old names of columns.
        private var example: String?

        /// True if the example is just the column's own name, which answers the question if no row is NULL
        /// there.
        var keepsValues = false

        /// The expression of a hint that doesn't answer the question.
        private var refused: String?

        init(
            _ kind: Kind,
            table: SQLName,
            column: SQLName? = nil,
            candidates: [SQLName] = [],
            example: String? = nil
        ) {
            self.kind = kind
            self.table = table.text
            self.column = column?.text
            self.candidates = candidates.map(\.text)
            self.example = example
        }

        /// The same question after a hint whose expression doesn't answer it, with an example of one that
        /// does.
        func refusing(_ expression: String, example: String? = nil) -> Self {
            var question = self
            question.refused = expression
            question.example = example ?? (keepsValues ? nil : self.example)
            question.keepsValues = false
            return question
        }
    }
}

extension SchemaPlan.Question {
    /// The question, with the hints that answer it.
    public var description: String {
        let column = column ?? ""
        let tableText = Self.literal(table)
        let columnText = Self.literal(column)
        let drop =
            self.column == nil
            ? "droppedTables: [\(tableText)]" : "droppedColumns: [\(tableText): [\(columnText)]]"
        let value = "values: [\(tableText): [\(columnText): \(Self.literal(example ?? "an expression"))]]"
        let isConversion = kind == .convertedValues
        let why =
            isConversion
            ? "does not use the column, and would replace its values"
            : "returns no value for a row that has none"
        let hint = refused.map { " The hint \(Self.literal($0)) \(why)." } ?? ""
        switch kind {
        case .droppedTable:
            let renameHints = candidates.map { "renamedTables: [\(tableText): \(Self.literal($0))]" }
            let count = rowCount.map { $0 == 1 ? ", which has 1 row" : ", which has \($0) rows" } ?? ""
            let copy =
                similarTables.isEmpty
                ? ""
                : " It may be a leftover copy of \(Self.list(similarTables)), with rows that exist nowhere else"
                    + " for some users. Compare the tables in a migration first."
            let rows =
                contentTables.isEmpty
                ? "" : " It is an index of \(Self.list(contentTables)), and holds no rows."
            return
                "The target has no table \(table)\(count).\(rows)\(copy) \(choice(ifRenamed: renameHints, ifDropped: drop))"
        case .droppedColumn:
            let renameHints = candidates.map {
                "renamedColumns: [\(tableText): [\(columnText): \(Self.literal($0))]]"
            }
            return
                "The target's table \(table) has no column \(column)\(rowCountPhrase). \(choice(ifRenamed: renameHints, ifDropped: drop))"
        case .replacedTable:
            let sources = Self.list(newContentTables)
            let filling = sources.isEmpty ? "" : " The plan fills the new one from \(sources)."
            if contentTables.isEmpty {
                return
                    "The virtual table \(table) can be changed only by dropping and creating it again, which loses its"
                    + " rows.\(filling)"
                    + " If that is acceptable: \(drop)."
            }
            let loss = newContentTables.isEmpty ? " The new one is empty." : filling
            return
                "The virtual table \(table) can be changed only by dropping and creating it again. It is an index of"
                + " \(Self.list(contentTables)), and holds no rows.\(loss) If that is acceptable: \(drop)."
        case .generatedColumn:
            return
                "The column \(column) of the table \(table)\(rowCountPhrase.isEmpty ? "" : "\(rowCountPhrase),") becomes"
                + " a generated column, so its values are lost. If that is acceptable: \(drop)."
        case .missingValue:
            return "The new column \(column) of the table \(table) is NOT NULL and has no default.\(hint)"
                + " Give it a value: \(value)."
        case .emptyValues:
            if keepsValues {
                return
                    "The column \(column) of the table \(table) becomes NOT NULL. If no row is NULL there: \(value)."
            }
            return
                "The column \(column) of the table \(table) becomes NOT NULL.\(hint) Say what rows without a value get:"
                + " \(value)."
        // A conversion, the only other kind.
        default:
            return
                "The column \(column) of the table \(table) gets a type that can change its values.\(hint)"
                + " Give an expression that converts them. SQLite's own conversion, which keeps values that it can't"
                + " convert, is \(value)."
        }
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: " and ") }

    /// A string as it is written in Swift.
    private static func literal(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { scalars.append("\\") }
            scalars.append(scalar)
        }
        return "\"\(String(scalars))\""
    }

    /// The number of rows with a value in the column, as a part of a sentence; empty if there are none.
    private var rowCountPhrase: String {
        guard let rowCount, rowCount > 0 else { return "" }
        return ", which has a value in \(rowCount == 1 ? "1 row" : "\(rowCount) rows")"
    }

    private func choice(ifRenamed renamed: [String], ifDropped drop: String) -> String {
        let dropping = "To drop it with its content: \(drop)."
        if renamed.isEmpty { return dropping }
        return "If it was renamed: \(renamed.joined(separator: " or ")). \(dropping)"
    }
}

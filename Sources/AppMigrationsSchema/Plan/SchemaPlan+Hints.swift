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
        /// its turn changes nothing again. If the expression doesn't use the column itself, only rows without a value get
        /// it, and it answers no question about a conversion. An expression that uses the column and returns NULL for a row
        /// without a value, such as `trim(title)`, says how values are converted, and not what such rows get.
        ///
        /// The column's own name alone, `"title": "title"`, keeps every value, converted as SQLite does it. It answers each
        /// question about the column. ``SchemaPlan/apply(_:progress:)`` throws if a row can't keep its value, because it has none
        /// under a new `NOT NULL`, or one that a `STRICT` table refuses. The error names the row, and nothing is changed.
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

/// The renames of hints that a database still needs.
///
/// Hints are written for good, so that a database of any release is led along the names that it has not seen: from `a`
/// to `b` to `c`. A name that the database has as well is a thing of its own, and its renames are its own.
struct SchemaRenames {
    typealias Rename = (old: SQLName, new: SQLName)

    /// In an order in which each new name is free.
    private(set) var pending = [Rename]()
    /// The names that were to become one that may go.
    private(set) var gone = Set<SQLName>()

    init(
        _ hints: [Rename],
        from isThere: (SQLName) -> Bool,
        to isWanted: (SQLName) -> Bool,
        mayGo: (SQLName) -> Bool,
        contradiction: (_ old: SQLName, _ new: SQLName, _ reason: String) -> SQLError
    ) throws(SQLError) {
        var moves = [Rename]()
        for old in hints.map(\.old) where isThere(old) {
            let names = Self.names(after: old, hints, isThere)
            guard let last = names.last else { continue }
            if let new = names.last(where: isWanted) {
                moves.append((old, new))
            } else if isThere(last) || isWanted(old) && hints.contains(where: { $0 == (last, old) }) {
                // Done already, or renamed and renamed back.
                continue
            } else if names.contains(where: mayGo) {
                gone.insert(old)
            } else {
                throw contradiction(old, last, "which the target does not have")
            }
        }
        // Where the new name is there and stays, the rename was done, and another thing came under the old name.
        while let done = moves.firstIndex(where: { move in
            isThere(move.new) && !moves.contains { $0.old == move.new }
        }) {
            moves.remove(at: done)
        }
        for (index, move) in moves.enumerated() {
            if let other = moves[..<index].first(where: { $0.new == move.new }) {
                throw contradiction(move.old, move.new, "and \(other.old), too")
            }
        }
        while !moves.isEmpty {
            guard let next = moves.firstIndex(where: { move in !moves.contains { $0.old == move.new } })
            else {
                // Refused, because afterwards nothing tells whether the exchange was done.
                throw contradiction(
                    moves[0].old,
                    moves[0].new,
                    "and the other way round; exchange them in a migration"
                )
            }
            pending.append(moves.remove(at: next))
        }
    }

    /// The names that the hints give a thing, one after the other.
    private static func names(
        after old: SQLName,
        _ hints: [Rename],
        _ isThere: (SQLName) -> Bool
    ) -> [SQLName] {
        var names = [SQLName]()
        var name = old
        while let next = hints.first(where: { $0.old == name })?.new, next != old, !names.contains(next) {
            names.append(next)
            if isThere(next) { break }
            name = next
        }
        return names
    }

    /// The new name of a thing that gets one.
    subscript(old: SQLName) -> SQLName? { pending.first { $0.old == old }?.new }
}

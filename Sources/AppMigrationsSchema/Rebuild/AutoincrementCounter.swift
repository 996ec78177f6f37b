internal import AppMigrationsSQLite

/// The counter of an `AUTOINCREMENT` column: the highest number that the column ever had ("SQLite
/// Autoincrement").
enum AutoincrementCounter {
    /// The statements that raise the counter of `table` to that of `other`, if the latter is higher.
    ///
    /// Otherwise a new row could get the number of a row that was deleted from the other table.
    static func statements(raising table: SQLName, toCounterOf other: SQLName) -> [String] {
        let isTable = "name = \(SQLValue.text(table.text)) COLLATE NOCASE"
        let isOther = "name = \(SQLValue.text(other.text)) COLLATE NOCASE"
        // SQLite finds a counter only by the name as it is in the schema, in the same case.
        return [
            """
            INSERT INTO main.sqlite_sequence SELECT (
                SELECT name FROM main.sqlite_master WHERE type = 'table' AND \(isTable)
            ), seq FROM main.sqlite_sequence
            WHERE \(isOther) AND NOT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE \(isTable))
            """,
            """
            UPDATE main.sqlite_sequence SET seq = (
                SELECT max(seq) FROM main.sqlite_sequence WHERE \(isTable) OR \(isOther)
            ) WHERE \(isTable)
            """,
        ]
    }
}

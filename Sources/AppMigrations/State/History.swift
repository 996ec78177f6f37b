/// The rows of the migrations that have run, the oldest first, as the bytes that are in the state file.
///
/// A save writes these bytes back. Nobody reads or encodes an old row to save a new one: with 1,000 rows,
/// that would take fourteen times as long as the rest of the save. Who needs the rows reads them with
/// ``rows()``, and finds out then whether they are damaged.
package struct History: Sendable, Equatable {
    /// The text between the brackets of the JSON array: each row is on a line of its own.
    private(set) var text: [UInt8]

    /// Keeps the rows in `text`, which is what is between the brackets of the array; `nil` if they aren't in
    /// the lines that this library writes: an indented one for each row, and a line break at the end.
    init?(written text: ArraySlice<UInt8>) {
        if text.isEmpty {
            self.text = []
            return
        }
        guard text.first == UInt8(ascii: "\n"), text.suffix(3) == Array("\n  ".utf8)[...] else { return nil }
        let rows = text.dropLast(3)
        for index in rows.indices where rows[index] == UInt8(ascii: "\n") {
            if !rows[index...].starts(with: Self.lineStart) { return nil }
        }
        self.text = Array(rows)
    }

    package init(rows: [AppliedMigration] = []) {
        text = []
        for row in rows { append(row) }
    }

    package mutating func append(_ row: AppliedMigration) {
        if !text.isEmpty { text.append(UInt8(ascii: ",")) }
        text += Self.lineStart
        text += row.json.utf8
    }

    /// True if this row, as this library writes it, is one of the rows.
    func contains(_ row: AppliedMigration) -> Bool {
        let bytes = Array(row.json.utf8)
        return text.split(separator: UInt8(ascii: "\n")).contains { line in
            line.drop { $0 == UInt8(ascii: " ") }.starts(with: bytes)
        }
    }

    private static var lineStart: [UInt8] { Array("\n    ".utf8) }

    /// The number of rows.
    ///
    /// A JSON string can't contain a line break, so each line break begins a row.
    var count: Int { text.reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 } }

    /// Reads the rows.
    ///
    /// - Throws: ``JSONError`` if they are damaged.
    package func rows() throws(JSONError) -> [AppliedMigration] {
        let array = [UInt8(ascii: "[")] + text + [UInt8(ascii: "]")]
        var rows: [AppliedMigration] = []
        for element in try JSON.read(array).elements() { rows.append(try AppliedMigration(element)) }
        return rows
    }

    /// Removes the oldest `count` rows, and returns the highest version among them.
    ///
    /// - Throws: ``JSONError`` if the rows are damaged.
    mutating func removeOldest(_ count: Int) throws(JSONError) -> AppVersion {
        let rows = try rows()
        self = History(rows: Array(rows.dropFirst(count)))
        return rows.prefix(count).map(\.version).max() ?? .zero
    }
}

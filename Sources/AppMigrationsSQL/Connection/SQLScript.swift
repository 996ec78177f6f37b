/// The text of one or more statements, as the UTF-8 bytes that a database reads.
///
/// This type doesn't split the text into statements. SQLite does that itself: `sqlite3_prepare_v2` compiles
/// the first statement, and returns the position of the next one in *pzTail*. For PostgreSQL,
/// ``PostgresStatements`` splits a script.
package struct SQLScript {
    /// The text in UTF-8 without a byte order mark, and a zero byte at its end.
    package let bytes: [UInt8]

    package init(_ text: String) {
        var bytes = [UInt8]()
        bytes.reserveCapacity(text.utf8.count + 1)
        bytes += text.utf8
        let hasByteOrderMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        if hasByteOrderMark { bytes = Array(bytes[3...]) }
        bytes.append(0)
        self.bytes = bytes
    }

    package var count: Int { bytes.count - 1 }

    /// The line and the column of a byte, both counted from 1.
    ///
    /// The column counts Unicode scalars.
    package func position(at offset: Int) -> (line: Int, column: Int) {
        let before = bytes[..<offset]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? before.startIndex
        // A byte 10xxxxxx continues a scalar.
        let column = before[start...].count { $0 & 0b1100_0000 != 0b1000_0000 } + 1
        return (line, column)
    }

    /// The text between two offsets, without the blanks at its end.
    package func text(from start: Int, to end: Int) -> String {
        var end = end
        while end > start, Self.isBlank(bytes[end - 1]) { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// An error at a position of this script.
    package func error(_ code: SQLError.Code, _ message: String, at offset: Int) -> SQLError {
        SQLError(code, message).located(at: position(at: offset))
    }

    /// Throws if a database would read only a part of the text.
    package func refuseZeroBytes(for database: String = "SQLite") throws(SQLError) {
        if let offset = bytes[..<count].firstIndex(of: 0) {
            throw error(
                .invalidScript,
                "There is a zero byte, at which \(database) would stop reading",
                at: offset
            )
        }
    }

    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) && byte != 0x0B
    }
}

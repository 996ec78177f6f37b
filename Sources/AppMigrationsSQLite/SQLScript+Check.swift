extension SQLScript {
    /// Refuses what SQLite would accept and read in another way than its author meant.
    func check(for dialect: SQLDialect) throws(SQLError) {
        if let offset = bytes[..<count].firstIndex(of: 0) {
            throw error(.invalidScript, "a zero byte, where SQLite would stop reading", at: offset)
        }
        // Quotes and comments are written differently there, and PostgreSQL refuses what is not closed.
        guard dialect.isSQLite else { return }
        var offset = 0
        while offset < count { offset = try checkedEnd(ofTokenAt: offset) }
    }

    /// The first byte from `offset` on that is neither blank nor in a comment: where a statement begins.
    func startOfStatement(from offset: Int) throws(SQLError) -> Int {
        var offset = offset
        while offset < count {
            if Self.isBlank(bytes[offset]) || isComment(at: offset) {
                offset = try checkedEnd(ofTokenAt: offset)
            } else if bytes[offset...].starts(with: Self.byteOrderMark) {
                // SQLite reads one as a blank wherever it stands.
                offset += Self.byteOrderMark.count
            } else {
                return offset
            }
        }
        return count
    }

    private func isComment(at offset: Int) -> Bool {
        let pair = (bytes[offset], bytes[offset + 1])
        return pair == (UInt8(ascii: "-"), UInt8(ascii: "-"))
            || pair == (UInt8(ascii: "/"), UInt8(ascii: "*"))
    }

    /// The end of a blank, a comment, a quoted text or one byte of anything else.
    private func checkedEnd(ofTokenAt offset: Int) throws(SQLError) -> Int {
        switch bytes[offset] {
        case UInt8(ascii: "-") where isComment(at: offset):
            return try endOfLineComment(at: offset)
        case UInt8(ascii: "/") where isComment(at: offset):
            return try endOfBlockComment(at: offset)
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            return end(of: bytes[offset], from: offset + 1)
        case UInt8(ascii: "["):
            return end(of: UInt8(ascii: "]"), from: offset + 1)
        case UInt8(ascii: "\r") where bytes[offset + 1] != UInt8(ascii: "\n"):
            throw loneCarriageReturn(at: offset)
        default:
            return offset + 1
        }
    }

    /// The byte after the closing one; a text that is not closed goes to the end, and SQLite refuses it.
    ///
    /// A doubled quote inside closes one text and opens the next, which comes to the same.
    private func end(of closing: UInt8, from start: Int) -> Int {
        bytes[start..<count].firstIndex(of: closing).map { $0 + 1 } ?? count
    }

    private func endOfLineComment(at start: Int) throws(SQLError) -> Int {
        var offset = start
        while offset < count, bytes[offset] != UInt8(ascii: "\n") {
            if bytes[offset] == UInt8(ascii: "\r"), bytes[offset + 1] != UInt8(ascii: "\n"),
                offset + 1 < count
            {
                throw loneCarriageReturn(at: offset)
            }
            offset += 1
        }
        return offset
    }

    private func endOfBlockComment(at start: Int) throws(SQLError) -> Int {
        var offset = start + 2
        while offset + 1 < count {
            if bytes[offset] == UInt8(ascii: "*"), bytes[offset + 1] == UInt8(ascii: "/") {
                return offset + 2
            }
            offset += 1
        }
        throw error(
            .invalidScript,
            "a comment that /* begins and no */ ends; SQLite would skip everything after it",
            at: start
        )
    }

    /// "SQL Comments" end at a line feed only.
    private func loneCarriageReturn(at offset: Int) -> SQLError {
        error(
            .invalidScript,
            "a carriage return without a line feed; SQLite would take the lines after a -- comment for a part of it",
            at: offset
        )
    }
}

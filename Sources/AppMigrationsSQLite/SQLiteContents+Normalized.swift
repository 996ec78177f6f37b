extension SQLiteContents {
    /// A `CREATE` text without blanks, comments, capitals and the quotes of names, which `ALTER TABLE` adds.
    static func normalized(_ sql: String) -> String {
        var rest = Array(sql.utf8)[...]
        var normal: [UInt8] = []
        var isApart = false
        while let byte = rest.first {
            if let end = commentEnd(rest) {
                rest = end
                isApart = true
            } else if SQLScript.isBlank(byte) {
                rest.removeFirst()
                isApart = true
            } else if byte == UInt8(ascii: "'") {
                let end = rest.dropFirst().firstIndex(of: byte) ?? rest.endIndex - 1
                normal += rest[...end]
                rest = rest[(end + 1)...]
                isApart = false
            } else if "\"`[]".utf8.contains(byte) {
                rest.removeFirst()
            } else {
                if isApart, let last = normal.last, isOfWord(last), isOfWord(byte) {
                    normal.append(UInt8(ascii: " "))
                }
                normal.append(lowercased(byte))
                rest.removeFirst()
                isApart = false
            }
        }
        return String(decoding: normal, as: UTF8.self)
    }

    /// What follows the comment that the text begins with; `nil` where it begins with none.
    private static func commentEnd(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if text.starts(with: "--".utf8) { return text.drop { $0 != UInt8(ascii: "\n") } }
        guard text.starts(with: "/*".utf8) else { return nil }
        var rest = text.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
        return rest.dropFirst(2)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch lowercased(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }
}

/// The checksum of a migration's SQL, which shows whether it was edited after it was applied.
///
/// It is FNV-1a with 64 bits, over the text without a byte order mark and with `\n` for every line end. So an
/// editor or a checkout that changes those doesn't count as an edit. It protects against mistakes, not
/// against an attacker.
enum SQLChecksum {
    static func of(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let bytes = SQLScript(text).bytes
        for index in 0..<bytes.count - 1 {
            // There is always a next byte: the zero byte after the text.
            if bytes[index] == UInt8(ascii: "\r"), bytes[index + 1] == UInt8(ascii: "\n") { continue }
            hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01b3
        }
        var text = Array("fnv1a:".utf8)
        // `String(_:radix:)` would make a start without work instantiate generic types for this alone.
        for _ in 0..<16 {
            let digit = UInt8(hash >> 60)
            text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            hash <<= 4
        }
        return String(decoding: text, as: UTF8.self)
    }
}

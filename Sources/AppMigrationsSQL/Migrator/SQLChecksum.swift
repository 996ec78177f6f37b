/// The checksum of a migration's SQL, which shows whether it was edited after it was applied.
///
/// It is FNV-1a with 64 bits, over the text without a byte order mark and with `\r\n` read as `\n`. So it
/// isn't an edit if another editor or a checkout on Windows changes the mark or the line ends. (A lone `\r`
/// is kept.) It protects against mistakes, not against an attacker.
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
        // Not `String(_:radix:)`: its first call in a process instantiates generic types, which would slow
        // down a start that has nothing else to do.
        for _ in 0..<16 {
            let digit = UInt8(hash >> 60)
            text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            hash <<= 4
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A fingerprint of a migration's SQL, to notice that it was edited after it had been applied.
///
/// It is FNV-1a with 64 bits over the text without a byte order mark and with `\n` for every line end, so
/// that an editor or a checkout that changes those does not count. It guards against mistakes, not against
/// an attacker.
enum SQLChecksum {
    static func of(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let bytes = SQLScript(text).bytes.dropLast()
        for (index, byte) in zip(bytes.indices, bytes) {
            if byte == UInt8(ascii: "\r"), index + 1 < bytes.endIndex, bytes[index + 1] == UInt8(ascii: "\n")
            {
                continue
            }
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return "fnv1a:" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The encoding of RFC 3986, which names of ours have in the file system, and paths taken from a `URL` by mistake.
enum PercentEncoding {
    /// What `text` stands for; `nil` when nothing in it is encoded, or not as text.
    static func decoded(_ text: String) -> String? {
        let encoded = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < encoded.count {
            if encoded[index] == 0x25, let value = value(encoded[(index + 1)...].prefix(2)) {
                bytes.append(value)
                index += 3
            } else {
                bytes.append(encoded[index])
                index += 1
            }
        }
        return bytes.count == encoded.count ? nil : String(validUTF8: bytes)
    }

    private static func value(_ digits: ArraySlice<UInt8>) -> UInt8? {
        if digits.count < 2 { return nil }
        var value: UInt8 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | (digit - 0x30)
            case 0x41...0x46, 0x61...0x66: value = value << 4 | (digit & 0x0F + 9)
            default: return nil
            }
        }
        return value
    }
}

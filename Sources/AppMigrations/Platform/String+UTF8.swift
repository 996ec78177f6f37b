/// What the standard library's `String(validating:as:)` gives from macOS 15 and iOS 18 on.
extension String {
    /// The text of the bytes, or `nil` where they are not UTF-8.
    package init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // What is not UTF-8 was replaced, and the replacement has other bytes.
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }

    package init?(validUTF8 bytes: [UInt8]) {
        guard let text = bytes.withUnsafeBufferPointer({ String(validUTF8: $0) }) else { return nil }
        self = text
    }
}

/// A value in a JSON text (RFC 8259).
///
/// The reader is strict. It rejects every byte that isn't allowed, and repairs nothing.
///
/// The library has its own reader because Foundation makes the start of a process slower. A program that does
/// nothing takes 1.27 times as long to start if it links Foundation. The first value that Foundation decodes
/// takes 40 times as long as everything that this library reads at a start.
package struct JSON: Sendable {
    enum Content: Sendable {
        case null
        case bool(Bool)
        case number(String)
        case string(String)
        case array([JSON])
        case object([Member])
    }

    struct Member: Sendable {
        let key: String
        let value: JSON

        /// The range of bytes in the text that contains the key and the value.
        let bytes: Range<Int>
    }

    let content: Content

    /// The index of the value's first byte in the text.
    let offset: Int

    /// The maximum nesting depth of arrays and objects that the reader accepts.
    static var depthLimit: Int { 64 }

    /// Reads a whole text.
    ///
    /// - Throws: ``JSONError`` for the first byte that isn't allowed.
    package static func read(_ text: [UInt8]) throws(JSONError) -> JSON {
        var reader = JSONReader(text)
        return try reader.readAll()
    }
}

/// An error in a JSON text: what was expected, and the offset of the byte where something else was found.
package struct JSONError: Error {
    package let message: Message

    init(expected expectation: Message, at offset: Int) {
        message = "expected \(expectation) at byte \(offset)"
    }
}

/// A value in a JSON text (RFC 8259).
///
/// The reader is strict: it skips no byte that isn't allowed, and repairs nothing.
///
/// The library has a reader of its own because the cost of a process start was measured. Linking Foundation
/// makes an empty start 1.27 times slower, and its first decoding takes forty times as long as everything
/// that a start of this library reads.
struct JSON: Sendable {
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

        /// The bytes of the key and the value in the text.
        let bytes: Range<Int>
    }

    let content: Content

    /// The index of the value's first byte in the text.
    let offset: Int

    /// The deepest nesting of arrays and objects that is read.
    static var depthLimit: Int { 64 }

    /// Reads a whole text.
    ///
    /// - Throws: ``JSONError`` for the first byte that isn't allowed.
    static func read(_ text: [UInt8]) throws(JSONError) -> JSON {
        var reader = JSONReader(text)
        return try reader.readAll()
    }
}

/// Says what was expected at a byte of a JSON text where something else was found.
struct JSONError: Error {
    let message: Message

    init(expected expectation: Message, at offset: Int) {
        message = "expected \(expectation) at byte \(offset)"
    }
}

/// A note, in whatever file or table it is kept.
struct Note: Codable, Sendable {
    let id: Int
    /// The day on which it was written, for example `2019-03-02`.
    let created: String
    let title: String
    let tags: [String]
    let text: String
}

/// Two notes are equal if their bytes are equal.
///
/// For `String.==`, "é" and "e\u{301}" are equal. But a migration that turns one into the other has changed
/// what the user wrote.
extension Note: Equatable {
    static func == (one: Note, other: Note) -> Bool {
        one.id == other.id && one.created.hasSameBytes(as: other.created)
            && one.title.hasSameBytes(as: other.title) && one.text.hasSameBytes(as: other.text)
            && one.tags.count == other.tags.count
            && zip(one.tags, other.tags).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

extension String {
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// The parts between line feeds.
    ///
    /// The bytes are split, because "\r\n" is a single Character.
    var lines: [String] {
        utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// The longest prefix of whole Characters with at most `limit` bytes.
    ///
    /// A file name has at most 255.
    func cut(toBytes limit: Int) -> String {
        var room = limit
        return String(
            prefix {
                room -= $0.utf8.count
                return room >= 0
            }
        )
    }
}

/// One note, whatever file or table it is kept in.
struct Note: Codable, Sendable {
    let id: Int
    /// The day it was written, as `2019-03-02`.
    let created: String
    let title: String
    let tags: [String]
    let text: String
}

/// Two notes are equal if their bytes are equal. `String.==` calls "é" and "e\u{301}" equal, but a migration
/// that changes one into the other has changed what the user wrote.
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
    /// On bytes: as Characters, "\r\n" is one and would not be split.
    var lines: [String] {
        utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// As many whole Characters from the front as fit, for file names end at 255 bytes.
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

/// One note, whatever file or table it is kept in.
struct Note: Sendable {
    let id: Int
    /// The day it was written, as `2019-03-02`.
    let created: String
    let title: String
    let tags: [String]
    let text: String

    /// Folders are years: the only thing every note of 1.0 had to sort it by.
    var year: String { String(created.prefix(4)) }

    func tagged(_ tags: [String]) -> Note {
        Note(id: id, created: created, title: title, tags: tags, text: text)
    }
}

/// Equal means equal bytes. `String.==` calls "é" and "e\u{301}" equal, and a migration that changes one into
/// the other has changed what its user wrote.
extension Note: Equatable {
    static func == (one: Note, other: Note) -> Bool {
        one.id == other.id && one.created.hasSameBytes(as: other.created)
            && one.title.hasSameBytes(as: other.title) && one.text.hasSameBytes(as: other.text)
            && one.tags.count == other.tags.count
            && zip(one.tags, other.tags).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

extension String {
    func hasSameBytes(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

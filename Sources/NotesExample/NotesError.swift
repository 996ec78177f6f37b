/// What went wrong with the notes, their folder or their preferences, in words for the user.
struct NotesError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

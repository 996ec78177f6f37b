import Foundation

// In the extension:
nonisolated func addToInbox(
    _ note: String,
    in container: URL
) throws {
    let inbox = container.appending(path: "Inbox")
    try FileManager.default.createDirectory(
        at: inbox,
        withIntermediateDirectories: true
    )
    let file = inbox.appending(path: "\(UUID().uuidString).md")
    try Data(note.utf8).write(to: file, options: .atomic)
}

// In the app, each time a scene becomes active, after
// `try await gate.ready()`:
@MainActor func collectInbox(in container: URL) throws {
    let inbox = container.appending(path: "Inbox")
    let notes = container.appending(path: "Notes")
    let collected = Set(try names(in: notes))
    for name in try names(in: inbox) where name.hasSuffix(".md") {
        let file = inbox.appending(path: name)
        if collected.contains(name) {
            // A restored backup can have the note in both folders.
            try FileManager.default.removeItem(at: file)
        } else {
            try FileManager.default.moveItem(
                at: file,
                to: notes.appending(path: name)
            )
        }
    }
}

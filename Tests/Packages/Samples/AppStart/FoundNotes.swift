import Foundation

// Call this in prepareLibrary, in withLock. If an extension wrote
// while the app replaced the notes, its files are in a folder
// beside them. If this dies, the next start moves the others.
nonisolated func mergeFoundNotes(in folder: URL) throws {
    let files = FileManager.default
    let notes = folder.appending(path: "Notes")
    var taken = Set(try names(in: notes).map { $0.lowercased() })
    for found in try names(in: folder)
    where found.hasPrefix("Notes.found-") {
        let source = folder.appending(path: found)
        let keys: Set<URLResourceKey> = [.isDirectoryKey]
        let values = try source.resourceValues(forKeys: keys)
        guard values.isDirectory == true else { continue }
        for name in try names(in: source) {
            // Release 1.0 wrote a note as name.txt. What isn't a
            // note stays where it was found.
            guard name.hasSuffix(".txt") || name.hasSuffix(".md")
            else { continue }
            let title = (name as NSString).deletingPathExtension
            try files.moveItem(
                at: source.appending(path: name),
                to: notes.appending(path: freeName(title, &taken))
            )
        }
        if try names(in: source).isEmpty {
            try files.removeItem(at: source)
        }
    }
}

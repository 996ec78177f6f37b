import Foundation

nonisolated func removeOldCache(in folder: URL) throws {}

nonisolated func removeEmptyNotesIfAny(in folder: URL) throws {}

nonisolated func moveNotes(in folder: URL) throws { try rename("notes.txt", to: "notes.md", in: folder) }

nonisolated func moveIndex(in folder: URL) throws { try rename("index.plist", to: "index.json", in: folder) }

nonisolated func makeFiles(in folder: URL) throws {
    for name in ["notes.md", "index.json"] where !exists(path(name, in: folder)) {
        try Data().write(to: URL(filePath: path(name, in: folder)))
    }
}

private nonisolated func rename(_ old: String, to new: String, in folder: URL) throws {
    guard exists(path(old, in: folder)) else { return }
    try FileManager.default.moveItem(atPath: path(old, in: folder), toPath: path(new, in: folder))
}

private nonisolated func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

private nonisolated func path(_ name: String, in folder: URL) -> String {
    folder.appending(path: name).path(percentEncoded: false)
}

// Sample 1 of ACommandLineTool.md

/// Goes on until it is cancelled while a file `hold-settings` is there.
func renameKeys(_ folder: String) async throws {
    while FileManager.default.fileExists(atPath: folder + "/hold-settings"), !Task.isCancelled {
        try Data().write(to: URL(filePath: folder + "/renaming"))
        await Task.yield()
    }
    let settings = folder + "/settings"
    guard FileManager.default.fileExists(atPath: settings) else { return }
    let text = try String(contentsOfFile: settings, encoding: .utf8).replacing("colour", with: "color")
    try Data(text.utf8).write(to: URL(filePath: settings), options: .atomic)
}

struct NotANote: Error {}

/// Renames a note.
///
/// Waits until it is cancelled while a file `hold` is there: a test interrupts it then.
func convertNote(_ note: String, in folder: String) async throws -> String {
    while FileManager.default.fileExists(atPath: folder + "/hold"), !Task.isCancelled {
        try Data().write(to: URL(filePath: folder + "/converting"))
        await Task.yield()
    }
    let old = "\(folder)/\(note)"
    // A folder or a file that can't be read throws.
    let data = try Data(contentsOf: URL(filePath: old))
    guard String(data: data, encoding: .utf8) != nil else { throw NotANote() }
    let name = note.dropLast(".txt".count)
    var new = "\(folder)/\(name).md"
    var number = 2
    // 1.0 may have used the name of a converted note again.
    while FileManager.default.fileExists(atPath: new) {
        new = "\(folder)/\(name) \(number).md"
        number += 1
    }
    try FileManager.default.moveItem(atPath: old, toPath: new)
    return new
}

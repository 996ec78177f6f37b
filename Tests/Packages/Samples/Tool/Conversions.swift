import Foundation

/// True while this file is there, until the task is cancelled.
///
/// If a file `hold-firmly` is there too, a cancellation changes nothing.
private func isHeld(by name: String, in folder: String) -> Bool {
    guard FileManager.default.fileExists(atPath: "\(folder)/\(name)") else { return false }
    return !Task.isCancelled || FileManager.default.fileExists(atPath: folder + "/hold-firmly")
}

/// Goes on until it is cancelled while a file `hold-settings` is there.
func renameKeys(_ folder: String) async throws {
    while isHeld(by: "hold-settings", in: folder) {
        try Data().write(to: URL(filePath: folder + "/renaming"))
        await Task.yield()
    }
    let settings = folder + "/settings"
    let new = settings + ".new"
    // The values may contain text that isn't UTF-8.
    let data = try Data(contentsOf: URL(filePath: settings))
    try data.replacing(Data("colour".utf8), with: Data("color".utf8)).write(to: URL(filePath: new))
    let file = try FileHandle(forReadingFrom: URL(filePath: new))
    try file.synchronize()
    try file.close()
    guard rename(new, settings) == 0 else { throw CocoaError(.fileWriteUnknown) }
}

struct NotANote: Error {}

/// Renames a note.
///
/// Waits until it is cancelled while a file `hold` is there: a test interrupts it then. For a note with the text
/// "full", the disk is full. A note without permissions can't be read, even if root runs the tests.
func convertNote(_ note: String, in folder: String) async throws -> String {
    while isHeld(by: "hold", in: folder) {
        try Data().write(to: URL(filePath: folder + "/converting"))
        await Task.yield()
    }
    let old = "\(folder)/\(note)"
    var status = stat()
    if stat(old, &status) == 0, status.st_mode & 0o777 == 0 {
        throw CocoaError(.fileReadNoPermission, userInfo: [NSFilePathErrorKey: old])
    }
    // A file that can't be read throws.
    let data = try Data(contentsOf: URL(filePath: old))
    if data == Data("full".utf8) {
        throw CocoaError(.fileWriteOutOfSpace, userInfo: [NSFilePathErrorKey: old])
    }
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

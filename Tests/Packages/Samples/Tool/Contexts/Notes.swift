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

/// Makes a file of each line, and goes on saving checkpoints while a file `hold` is there: a test interrupts it then.
func splitNotes(_ folder: String, _ context: MigrationContext) async throws {
    let lines = try String(contentsOfFile: folder + "/notes.txt", encoding: .utf8).split(separator: "\n")
    var done = try context.checkpoint(as: Int.self) ?? 0
    while done < lines.count || FileManager.default.fileExists(atPath: folder + "/hold") {
        if done < lines.count {
            try Data(lines[done].utf8).write(to: URL(filePath: "\(folder)/note-\(done)"))
            try context.synchronize(folder)
        }
        done += 1
        try context.saveCheckpoint(done, progress: min(Double(done) / Double(lines.count), 1))
    }
}

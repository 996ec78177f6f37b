import Foundation

extension Release {
    /// Long work: a file for each note, which goes on where it was stopped.
    static let v3_1 = Release(
        version: "3.1",
        library: [
            Step(
                "3.1",
                "a preview of each note",
                points: ["half-written", "written", "renamed"],
                run: makePreviews
            )
        ]
    )

    /// Saves after each ten notes which one was the last: what was written behind it is written again, with the same text.
    @Sendable private static func makePreviews(_ context: StepContext) throws {
        let folder = context.folder
        if try context.library.layout() == .previews { return }
        let notes = try context.library.notes()
        let building = NotesLibrary.previewsFolder + ".new"
        let last = try folder.exists(building) ? context.checkpoint() ?? .min : .min
        try folder.makeFolder(building)
        try folder.synchronize("")
        for (index, note) in notes.enumerated() where note.id > last {
            let preview = note.text.lines.first { !$0.isEmpty } ?? ""
            try folder.write(Data(preview.cut(toBytes: 80).utf8), to: "\(building)/\(note.id).txt")
            context.pause()
            if index == notes.count / 2 { context.reached("half-written") }
            let done = index + 1
            guard done % 10 == 0 || done == notes.count else { continue }
            try folder.synchronize(building)
            try context.saveCheckpoint(note.id, Double(done) / Double(notes.count))
        }
        context.reached("written")
        try folder.rename(building, to: NotesLibrary.previewsFolder)
        context.reached("renamed")
    }
}

import Foundation

/// The data that the example comes with, as 1.0 wrote it.
enum SampleData {
    /// Fills a new or empty folder, and returns true if it did.
    ///
    /// It doesn't change a folder with notes.
    static func fill(_ folder: NotesFolder) throws -> Bool {
        guard try isMissing(in: folder) else { return false }
        try folder.makeFolder("")
        for name in own { try folder.replace(name, with: Data(contentsOf: resource(name))) }
        return true
    }

    /// True if the folder is new or empty, so that a start fills it.
    static func isMissing(in folder: NotesFolder) throws -> Bool {
        let notes = [NotesLibrary.notesFile, NotesLibrary.notesFolder, NotesDatabase.file]
        guard try !notes.contains(where: { try folder.exists($0) }) else { return false }
        guard try folder.exists("") else { return true }
        let leftovers = Set(own + own.map { $0 + ".new" })
        if let foreign = try folder.names().first(where: { !leftovers.contains($0) }) {
            throw NotesError(
                "\(folder.path) holds no notes but is not empty (\(foreign)). Name a new or empty folder."
            )
        }
        return true
    }

    // The notes are written last. If the app dies before that, the next start fills the folder again.
    private static let own = [NotesPreferences.textFile, NotesLibrary.notesFile]

    static func resource(_ name: String) throws -> URL {
        guard let url = Bundle.module.url(forResource: name, withExtension: nil) else {
            throw NotesError("The app's own \(name) is missing from its resources.")
        }
        return url
    }
}

/// The way of one folder through the releases, and whether its notes came through it.
struct Tour {
    let folder: NotesFolder
    let output: Output

    func run() throws {
        let starts: [Release] = [.v1_0, .v1_1, .v1_4, .v2_0, .v2_1, .v2_2, .v3_0, .v3_1, .v3_1]
        var before: [Note] = []
        for release in starts {
            guard try NotesApp(release: release, folder: folder, output: output).start() == .opened else {
                throw NotesError("Notes \(release.version) refused a folder that no later release has used.")
            }
            output("")
            if before.isEmpty { before = try NotesLibrary(folder: folder).notes() }
        }
        guard try NotesLibrary(folder: folder).notes() == before else {
            throw NotesError("The notes in \(folder.path) are not what they were in 1.0.")
        }
        output("All \(before.count) notes are byte for byte what they were in 1.0.")
        output("The folder stays. Look at it, or start it again: --data \(folder.path) --version 3.1")
    }
}

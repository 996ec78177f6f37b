/// The way of one folder through the releases, and whether its notes came through it.
struct Tour {
    let folder: NotesFolder
    let output: Output
    let bar: Output?

    func run() async throws {
        let starts: [Release] = [.v1_0, .v1_1, .v1_4, .v2_0, .v2_1, .v2_2, .v3_0, .v3_1, .v3_1]
        var before: [Note] = []
        for release in starts {
            let app = NotesApp(release: release, folder: folder, output: output, bar: bar)
            guard try await app.start() == .opened else {
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

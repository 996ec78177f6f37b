extension Release {
    /// Another schema for the same notes: SQL in a file, run and written to the database's ledger in one transaction.
    static let v2_2 = Release(
        version: "2.2",
        library: [
            Step(
                version: "2.2",
                summary: "each tag once",
                points: ["uncommitted", "committed"],
                run: migrateDatabase
            )
        ]
    )

    @Sendable private static func migrateDatabase(_ context: StepContext) throws {
        switch try context.library.requiredLayout() {
        case .oneFile, .filePerNote, .tagsApart, .indexed:
            throw NotesError("\(context.folder.path) has no \(NotesDatabase.file) of 2.1.")
        case .database, .tagsOnce, .colors, .previews: break
        }
        let database = try NotesDatabase(path: context.folder.path(of: NotesDatabase.file))
        try database.migrate(to: .tagsOnce) { try context.reached("uncommitted") }
        try context.reached("committed")
    }
}

extension Release {
    /// Another schema for the same notes: SQL in a file, run and written to the database's ledger in one transaction.
    static let v2_2 = Release(
        version: "2.2",
        library: [Step("2.2", "each tag once", points: ["uncommitted", "committed"], run: migrateDatabase)],
        schema: .tagsOnce
    )

    @Sendable private static func migrateDatabase(_ context: StepContext) throws {
        _ = try context.layout(from: .database, else: "has no \(NotesDatabase.file) of 2.1")
        let database = try NotesDatabase(path: context.folder.path(of: NotesDatabase.file))
        try database.migrate(to: .tagsOnce) { context.reached("uncommitted") }
        context.reached("committed")
    }
}

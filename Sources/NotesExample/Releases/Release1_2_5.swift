extension Release {
    /// Preferences as JSON: a value may have several lines now.
    static let v1_2_5 = Release(
        version: "1.2.5",
        preferences: [
            Step("1.2.5", "preferences as JSON", points: ["written", "renamed", "removed"], run: moveToJSON)
        ]
    )

    @Sendable private static func moveToJSON(_ context: StepContext) throws {
        let folder = context.folder
        let preferences = NotesPreferences(folder: folder)
        guard try preferences.layout() == "1.0" else { return }
        let building = NotesPreferences.jsonFile + ".new"
        try folder.write(NotesJSON.encode(preferences.values()), to: building)
        context.reached("written")
        try folder.rename(building, to: NotesPreferences.jsonFile)
        context.reached("renamed")
        try folder.removeIfThere(NotesPreferences.textFile)
        context.reached("removed")
    }
}

import AppMigrations

/// Looks at a folder by managers that change nothing, also in the folder of another user.
extension NotesApp {
    /// Says what a start would run.
    func dryRun() throws -> Outcome {
        output("Notes \(release.version) looks at \(folder.path), and changes nothing")
        let isNew = try SampleData.isMissing(in: folder)
        if isNew { output("  A new folder: a start fills it with the notes and preferences of 1.0") }
        let report = StartReport(folder: folder, output: output)
        let looks = try [library, preferences].map { subsystem in
            let found = isNew ? { "1.0" } : subsystem.found
            return (subsystem, try look(at: subsystem, .existingData(at: found())))
        }
        if report.refuses(looks.map(\.1), release) { return .refused }
        for (subsystem, look) in looks { try show(subsystem, look, report) }
        return .opened
    }

    /// Prints the text for a support mail.
    func status() throws {
        for status in try statuses() { output("\(status)\n") }
    }

    /// Prints the same as JSON: a list of the managers' statuses.
    func statusAsJSON() throws {
        output(String(decoding: try NotesJSON.encode(statuses()), as: UTF8.self))
    }

    private func statuses() throws -> [MigrationStatus] {
        // A status tells what stands in the state, so the answer of `firstRun:` has no part in it.
        try [library, preferences].map { try look(at: $0, .everything).status }
    }

    private func look(
        at subsystem: Subsystem,
        _ firstRun: @autoclosure () throws -> MigrationManager.FirstRun
    ) throws -> MigrationManager {
        try MigrationManager(
            named: subsystem.name,
            currentVersion: release.version,
            firstRun: firstRun(),
            stateDirectory: folder.stateDirectory,
            options: MigrationManager.Options(isReadOnly: true)
        )
    }
}

import AppMigrations

/// Questions about a folder. Their managers are read-only, so the folder can belong to another user.
extension NotesApp {
    private static let options = MigrationManager.Options(isReadOnly: true)

    /// Prints what a start would run.
    func dryRun() throws -> Outcome {
        output("Notes \(release.version) looks at \(folder.path), and changes nothing")
        let isNew = try SampleData.isMissing(in: folder)
        if isNew { output("  A new folder: a start fills it with the notes and preferences of 1.0") }
        let looks = try subsystems.map {
            ($0, try $0.manager(for: self, from: isNew ? { "1.0" } : nil, Self.options))
        }
        for (_, look) in looks {
            guard let version = look.requiredAppVersion else { continue }
            report.refusal(of: look.name, needing: version, release)
            return .refused
        }
        for (subsystem, look) in looks {
            report.plan(of: look, try look.plan { try declare(subsystem.steps, on: $0) }, subsystem.steps)
        }
        return .opened
    }

    /// Prints the statuses of the managers as text for a support mail.
    func status() throws {
        for status in try statuses() { output("\(status)\n") }
    }

    /// Prints the statuses of the managers as a list in JSON.
    func statusAsJSON() throws { output("[ \(try statuses().map(\.json).joined(separator: ",\n  ")) ]\n") }

    private func statuses() throws -> [MigrationStatus] {
        // A status describes only the state, so the version of the data doesn't matter here.
        try subsystems.map { try $0.manager(for: self, from: { release.version }, Self.options).status }
    }
}

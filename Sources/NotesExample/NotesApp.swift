import AppMigrations

/// One start of a release of the app on a folder.
struct NotesApp: Sendable {
    enum Outcome {
        case opened
        /// The folder needs a newer release, and was not changed.
        case refused
    }

    let release: Release
    let folder: NotesFolder
    let output: Output
    /// Draws the progress bar.
    ///
    /// If it is `nil`, the progress is printed in lines.
    var bar: Output?
    /// True if the app changes nothing.
    var isLooking = false

    var report: StartReport { StartReport(folder: folder, output: output, hasBar: bar != nil) }

    /// Migrates the data to this release, and opens it.
    ///
    /// This app opens its data at one place, so the gate is a local value. An app that opens its data at
    /// several places keeps the gate, and calls `ready()` at each of them.
    func start() async throws -> Outcome {
        output("Notes \(release.version) starts on \(folder.path)")
        let gate = MigrationGate { start in try migrate(start) }
        do {
            try await ProgressBar(draw: bar).follow(gate)
        } catch let refusal as MigrationGate.RequiresAppVersion {
            report.refusal(of: refusal.managerName, needing: refusal.version, release)
            try report.contents()
            return .refused
        }
        try report.opened()
        try report.contents()
        return .opened
    }

    /// Does everything that comes before the data is opened.
    ///
    /// The gate calls it off the main actor.
    private func migrate(_ start: MigrationGate.Attempt) throws {
        if try SampleData.fill(folder) {
            output("  A new folder: filled with the notes and preferences of 1.0")
        }
        let options = start.options(.init { report.event($0) })
        let managers = try subsystems.map { ($0, try $0.manager(for: self, options)) }
        // All managers are planned before the first one migrates. If one of them needs a newer release,
        // nothing is changed, and the progress bar knows all of the work.
        let plans = try managers.map { subsystem, manager in
            try start.plan(manager) { try declare(subsystem.steps, on: $0) }
        }
        for ((subsystem, manager), plan) in zip(managers, plans) {
            report.plan(of: manager, plan, subsystem.steps)
            try declare(subsystem.steps, on: manager)
        }
        // This runs at every start, because a database that was restored from a backup has an older schema
        // than the state says.
        if let schema = release.history.compactMap(\.schema).last {
            try NotesLibrary(folder: folder).database().migrate(to: schema)
        }
    }

    /// Declares the app's migrations.
    ///
    /// The plan and the run use the same declarations.
    func declare(_ steps: [Step], on manager: MigrationManager) throws {
        for step in steps {
            // No older release can read the data after a step, so each step keeps older releases out.
            try manager.whenMigrating(toVersion: step.version, minimumAppVersion: step.version) { context in
                try step.run(
                    StepContext(
                        folder: folder,
                        reportProgress: { context.reportProgress($0, note: $1) },
                        checkpoint: { try context.checkpoint(as: Int.self) },
                        saveCheckpoint: { try context.saveCheckpoint($0, progress: $1) }
                    )
                )
            }
        }
    }

    var subsystems: [Subsystem] { [library, preferences] }

    var library: Subsystem {
        Subsystem(name: "Library", steps: release.history.flatMap(\.library)) {
            try NotesLibrary(folder: folder, isLooking: isLooking).layout().rawValue
        }
    }

    var preferences: Subsystem {
        Subsystem(name: "Preferences", steps: release.history.flatMap(\.preferences)) {
            try NotesPreferences(folder: folder).layout()
        }
    }
}

/// A part of the app with its own manager and state file.
struct Subsystem: Sendable {
    let name: String
    let steps: [Step]
    /// Finds the release that wrote the data, if there is no state: 1.0 didn't use this library yet.
    let found: @Sendable () throws -> String

    func manager(
        for app: NotesApp,
        from found: (() throws -> String)? = nil,
        _ options: MigrationManager.Options
    ) throws -> MigrationManager {
        try MigrationManager(
            named: name,
            currentVersion: app.release.version,
            firstRun: .existingData(at: (found ?? self.found)()),
            stateDirectory: app.folder.stateDirectory,
            options: options
        )
    }
}

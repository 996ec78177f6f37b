import AppMigrations

/// One start of the app: as a release, on a folder.
struct NotesApp: Sendable {
    enum Outcome {
        case opened
        /// The folder needs a newer release, and was left alone.
        case refused
    }

    let release: Release
    let folder: NotesFolder
    let output: Output
    /// Draws the bar of a terminal; without one, progress is told in lines.
    var bar: Output?
    /// True if nothing may be changed.
    var isLooking = false

    var report: StartReport { StartReport(folder: folder, output: output, hasBar: bar != nil) }

    /// Brings the data up to this release, as every start does, and opens it.
    ///
    /// This app has one door. An app with several keeps its gate, and asks it `ready()` at each of them.
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

    /// Does all that comes before the data is opened; the gate calls it off the main actor.
    private func migrate(_ start: MigrationGate.Attempt) throws {
        if try SampleData.fill(folder) {
            output("  A new folder: filled with the notes and preferences of 1.0")
        }
        let options = start.options(.init { report.event($0) })
        let managers = try subsystems.map { ($0, try $0.manager(for: self, options)) }
        // All are planned before one of them migrates: a folder that needs a newer release stays whole, and
        // the bar begins with all of the work.
        let plans = try managers.map { subsystem, manager in
            try start.plan(manager) { try declare(subsystem.steps, on: $0) }
        }
        for ((subsystem, manager), plan) in zip(managers, plans) {
            report.plan(of: manager, plan, subsystem.steps)
            try declare(subsystem.steps, on: manager)
        }
        // At every start: a database that came back from a backup is behind, and no state knows.
        if let schema = release.history.compactMap(\.schema).last {
            try NotesLibrary(folder: folder).database().migrate(to: schema)
        }
    }

    /// Declares the app's migrations; the plan and the run are made from these declarations.
    func declare(_ steps: [Step], on manager: MigrationManager) throws {
        for step in steps {
            // No older release can read what a step leaves, so each of them shuts those before it out.
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

/// A part of the app that migrates by itself, with a manager and a state file of its own.
struct Subsystem: Sendable {
    let name: String
    let steps: [Step]
    /// The release that left the data, asked where no state says so: 1.0 did not use this library yet.
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

import AppMigrations

/// One start of the app: as a release, on a folder.
struct NotesApp {
    enum Outcome {
        case opened
        /// The folder was last used by a newer release, and was left alone.
        case refused
    }

    let release: Release
    let folder: NotesFolder
    let output: Output
    /// Whether nothing may be changed.
    var isLooking = false
    /// Called after each thing of a long step.
    var pause: () -> Void = {}
    /// Called at every named point of every step that runs.
    var reached: (_ point: String) throws -> Void = { _ in }

    /// Brings the data up to this release, as every start does, and opens it.
    func start() throws -> Outcome {
        output("Notes \(release.version) starts on \(folder.path)")
        if try SampleData.fill(folder) {
            output("  A new folder: filled with the notes and preferences of 1.0")
        }
        let report = StartReport(folder: folder, output: output)
        // Both managers are made before either migrates, so that a folder of a newer release stays whole.
        let subsystems = try [library, preferences].map {
            try ($0, $0.manager(for: release, in: folder, report))
        }
        if report.refuses(subsystems.map(\.1), release) {
            try report.contents()
            return .refused
        }
        for (subsystem, manager) in subsystems {
            try show(subsystem, manager, report)
            try declare(subsystem.steps, on: manager)
        }
        try report.opened()
        try report.contents()
        return .opened
    }

    /// All that the app says about its migrations; the plan and the run are made from the same declarations.
    func declare(_ steps: [Step], on manager: MigrationManager) throws {
        for step in steps {
            try manager.whenMigrating(toVersion: step.version) { context in
                try step.run(
                    StepContext(
                        folder: folder,
                        reportProgress: { context.reportProgress($0, note: $1) },
                        reached: { try reached("\(step.version):\($0)") },
                        checkpoint: { try context.checkpoint(as: Int.self) },
                        saveCheckpoint: { try context.saveCheckpoint($0, progress: $1) },
                        pause: pause
                    )
                )
            }
        }
    }

    func show(_ subsystem: Subsystem, _ manager: MigrationManager, _ report: StartReport) throws {
        let plan = try manager.plan { try declare(subsystem.steps, on: $0) }
        report.plan(of: manager, plan, subsystem.steps)
    }

    var library: Subsystem {
        Subsystem(name: "Library", steps: release.history.flatMap(\.library)) {
            try NotesLibrary(folder: folder, isLooking: isLooking).requiredLayout().rawValue
        }
    }

    var preferences: Subsystem {
        Subsystem(name: "Preferences", steps: release.history.flatMap(\.preferences)) {
            try NotesPreferences(folder: folder).layout()
        }
    }
}

/// A part of the app that migrates by itself, with a manager and a state file of its own.
struct Subsystem {
    let name: String
    let steps: [Step]
    /// The release that left the data, asked where no state says so: 1.0 did not use this library yet.
    let found: () throws -> String

    func manager(for release: Release, in folder: NotesFolder, _ report: StartReport) throws
        -> MigrationManager
    {
        try MigrationManager(
            named: name,
            currentVersion: release.version,
            firstRun: .existingData(at: found()),
            stateDirectory: folder.stateDirectory,
            options: MigrationManager.Options(onEvent: { report.event($0) })
        )
    }
}

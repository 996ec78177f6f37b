import AppMigrations
import Foundation

/// Prints what a start does to a folder.
struct StartReport: Sendable {
    let folder: NotesFolder
    let output: Output
    /// True if a bar shows the progress.
    ///
    /// Otherwise the progress is printed in lines.
    let hasBar: Bool

    /// Prints the plan, before the first migration runs.
    func plan(of manager: MigrationManager, _ plan: [PlannedMigration], _ steps: [Step]) {
        output("  \(manager.name): \(describe(manager.launch)), last migrated to \(manager.lastRunVersion)")
        let pending = plan.filter { $0.kind == .willRun }.map(\.version.description)
        output("    planned  \(pending.isEmpty ? "nothing" : pending.joined(separator: ", "))")
        for step in steps where pending.contains(step.version) {
            output("             \(step.version): \(step.summary)")
        }
        let skipped = plan.filter { $0.kind != .willRun }
        if !skipped.isEmpty {
            let list = skipped.map { "\($0.version) (\(describe($0.kind)))" }
            output("    skipped  " + list.joined(separator: ", "))
        }
    }

    private func describe(_ launch: MigrationManager.Launch) -> String {
        switch launch {
        case .first: "first start with migrations"
        case .same: "same release as last time"
        case .upgrade(let older): "upgrade from \(older)"
        case .downgrade(let newer): "downgrade from \(newer)"
        }
    }

    private func describe(_ kind: PlannedMigration.Kind) -> String {
        switch kind {
        case .alreadyRun: "ran before"
        case .baseline: "in the data when the state was made"
        default: "\(kind)"
        }
    }

    /// Prints an event: the progress of a long step, a second attempt, or a wait for another process.
    func event(_ event: MigrationEvent) {
        let version = event.version.map { "\($0)" } ?? event.managerName
        switch event.kind {
        case .started:
            guard let attempt = event.attempt, attempt > 1 else { return }
            output("    again    \(version): attempt \(attempt), the last one did not finish")
        case .progressed where hasBar, .waiting where hasBar: return
        case .progressed:
            let percent = event.fraction.map { "\(Int($0 * 100)) %" } ?? "under way"
            output("    running  \(version): \(percent)\(event.note.map { ", " + $0 } ?? "")")
        case .finished: output("    ran      \(version)")
        case .waiting: output("    waiting  another process is migrating")
        case .failed: output("    failed   \(version)")
        default: output("    \(event.kind): \(event.error?.description ?? version)")
        }
    }

    /// Prints why this release doesn't change the data.
    func refusal(of manager: String, needing version: AppVersion, _ release: Release) {
        output("  \(manager): the data needs Notes \(version), and this is Notes \(release.version)")
        output("    Nothing was migrated, read or changed. Start the newer release again to go on.")
    }

    /// Reads everything, as an app does that shows it.
    func opened() throws {
        let notes = try NotesLibrary(folder: folder).notes()
        let tagged = notes.count { !$0.tags.isEmpty }
        let bytes = notes.reduce(0) { $0 + $1.text.utf8.count }
        let preferences = try NotesPreferences(folder: folder).values()
        output("  Opened \(notes.count) notes, \(tagged) with tags, \(bytes) bytes of text")
        output("  Opened \(preferences.count) preferences")
    }

    /// Prints what is in the folder, and the content of the state files.
    func contents() throws {
        output("  The folder")
        for name in try folder.names() {
            switch name {
            case "Migrations": output("    Migrations/")
            case NotesLibrary.notesFolder, NotesLibrary.previewsFolder:
                output("    \(name)/: \(try folder.names(in: name).count) files")
            default: output("    \(name), \(try folder.read(name).count) bytes")
            }
        }
        for name in try folder.names(in: "Migrations") where name.hasSuffix(".json") {
            output("  Migrations/\(name)")
            let content = String(decoding: try folder.read("Migrations/\(name)"), as: UTF8.self)
            for line in content.lines where !line.isEmpty { output("    " + line) }
        }
    }
}

import AppMigrations
import AppMigrationsGate
import Foundation
import TestSupport
import Testing

#if canImport(SwiftUI)
import SwiftUI
#endif

// The samples of "A progress screen", as they stand there, and what they claim.

@Sendable func declareLibrary(
    _ migrations: MigrationManager
) throws {
    try migrations.whenMigrating(toVersion: "1.1") { context in
        for (index, folder) in folders.enumerated() {
            try rename(folder)
            context.reportProgress(
                Double(index + 1) / Double(folders.count),
                note: folder
            )
        }
    }
    try migrations.whenMigrating(toVersion: "1.4") {
        try deleteCaches()
    }
}

func libraryGate(
    in folder: String,
    appVersion: String
) -> MigrationGate {
    MigrationGate { progress in
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: appVersion,
            stateDirectory: folder,
            options: progress.options(.init(attemptLimit: 3))
        )
        try progress.migrate(migrations, declareLibrary)
        // At every start: a new install runs no closure.
        try makeTables()
    }
}

#if canImport(SwiftUI)
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable final class StartModel {
    private(set) var state = MigrationGate.State.idle
    let gate: MigrationGate

    init(gate: MigrationGate) { self.gate = gate }

    func follow() async {
        for await state in gate.states { self.state = state }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
struct StartView<Content: View>: View {
    let model: StartModel
    @ViewBuilder let content: () -> Content

    var body: some View {
        Group {
            switch model.state {
            case .ready: content()
            case .idle, .planning(pending: 0): Color.clear
            case .planning: ProgressView(value: 0)
            case .migrating(let fraction, let note):
                ProgressView(value: fraction) {
                    Text(note ?? "Updating…")
                }
            case .waitingForAnotherProcess:
                ProgressView("An extension is updating…")
            case .waitingForUnlock:
                Text("Unlock the device to go on.")
            case .needsVersion(let version):
                Text("Update to version \(version.description).")
            case .failed(let error):
                Button("Try again") { model.gate.retry() }
                    .help("\(error)")
            }
        }
        .task { await model.follow() }
    }
}
#endif

func showBar(
    of gate: MigrationGate,
    _ show: (String) -> Void
) async throws {
    look: for await state in gate.states {
        switch state {
        case .migrating(let fraction, let note):
            let done = Int(fraction * 30)
            let open = String(repeating: "-", count: 30 - done)
            let bar = String(repeating: "#", count: done) + open
            let percent = Int(fraction * 100)
            show("\r[\(bar)] \(percent) % \(note ?? "")")
        case .waitingForAnotherProcess:
            show("\rAnother process is migrating…")
        case .waitingForUnlock(let error): throw error
        case .failed, .needsVersion: break look
        default: continue
        }
    }
    try await gate.ready()
}

func addNote(_ text: String, gate: MigrationGate) async throws {
    try await gate.ready()
    try save(text)
}

private let folders = ["Letters", "Drafts"]
private func rename(_ folder: String) throws { note("rename \(folder)") }
private func deleteCaches() throws { note("deleteCaches") }
private func makeTables() throws { note("makeTables") }
private func save(_ text: String) throws { note("save \(text)") }

/// What the samples called in this process: a gate's start runs in a task of its own, which knows no test.
private let calls = Guarded([String]())
private func note(_ call: String) { calls.withLock { $0.append(call) } }

#if canImport(ObjectiveC)
@objc final class LibraryStart: NSObject {
    private static let gate = libraryGate(
        in: NSHomeDirectory() + "/Library/Migrations",
        appVersion: "1.4"
    )

    @objc static func ready() async throws {
        try await gate.ready()
    }
}
#endif

@Suite struct SamplesOfProgress {
    @Test func `the bar appears for an update, ends at one hundred, and not at all without one`() async throws
    {
        try await withTemporaryFolder { folder async throws in
            func shown(_ version: String) async throws -> [String] {
                var lines = [String]()
                try await showBar(of: libraryGate(in: folder, appVersion: version)) { lines.append($0) }
                return lines
            }
            _ = try MigrationManager(named: "Library", currentVersion: "1.0", stateDirectory: folder)
            let lines = try await shown("1.4")
            // A reader that is slow gets the newest state; each that it gets is a bar, and they never fall.
            let percents = lines.compactMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
            #expect(percents == percents.sorted() && lines.allSatisfy { $0.hasPrefix("\r[") }, "\(lines)")
            #expect(try await shown("1.4") == [])
            try await addNote("A door", gate: libraryGate(in: folder, appVersion: "1.4"))
        }
    }

    @Test func `a new install runs no closure, and a door of an update waits for all of them`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder async throws in
                try await libraryGate(in: folder + "/new", appVersion: "1.4").ready()
                #expect(calls.withLock { $0 } == ["makeTables"])
                let old = folder + "/old"
                _ = try MigrationManager(named: "Library", currentVersion: "1.0", stateDirectory: old)
                calls.withLock { $0 = [] }
                try await addNote("A door", gate: libraryGate(in: old, appVersion: "1.4"))
                #expect(
                    calls.withLock { $0 } == [
                        "rename Letters", "rename Drafts", "deleteCaches", "makeTables", "save A door",
                    ]
                )
            }
        }
    }

    @Test func `the bar of a tool ends with the error of the start, also where an app would wait`()
        async throws
    {
        try await withTemporaryFolder { folder async throws in
            let state = folder + "/state"
            try link(state, to: state)
            let locked = libraryGate(in: state, appVersion: "1.4")
            let error = await #expect(throws: MigrationError.self) {
                try await showBar(of: locked) { _ in }
            }
            #expect(error?.code == .stateUnreadable)
            try remove(state)
            locked.retry()
            try await locked.ready()
            let gate = libraryGate(in: folder, appVersion: "no version")
            await #expect(throws: MigrationError.self) { try await showBar(of: gate) { _ in } }
        }
    }
}

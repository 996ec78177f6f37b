import AppMigrations
import AppMigrationsGate
import Foundation
import TestSupport
import Testing

#if canImport(SwiftUI)
import SwiftUI
#endif
#if canImport(UIKit)
import UIKit
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
    appVersion: String,
    isUnlocked: @escaping @Sendable () async -> Bool
) -> MigrationGate {
    MigrationGate { progress in
        guard await isUnlocked() else {
            throw MigrationGate.NeedsUnlock()
        }
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: appVersion,
            firstRun: libraryVersion(in: folder),
            stateDirectory: folder,
            options: progress.options(.init(attemptLimit: 3))
        )
        if progress.isRetry { try migrations.forgetDeaths() }
        try progress.migrate(migrations, declareLibrary)
        // At every start: a new install runs no closure.
        try makeTables()
    }
}

@Sendable func isUnlocked() async -> Bool {
    #if canImport(UIKit) && !os(watchOS)
    await UIApplication.shared.isProtectedDataAvailable
    #else
    true
    #endif
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

nonisolated(nonsending) func showBar(
    of gate: MigrationGate,
    _ show: (String) -> Void
) async throws {
    var isShown = false
    defer { if isShown { show("\n") } }
    look: for await state in gate.states {
        let text: String
        switch state {
        case .migrating(let fraction, let note):
            let done = Int(fraction * 30)
            let open = String(repeating: "-", count: 30 - done)
            let bar = String(repeating: "#", count: done) + open
            let percent = Int(fraction * 100)
            text = "[\(bar)] \(percent) % \(note ?? "")"
        case .waitingForAnotherProcess:
            text = "Another process is migrating…"
        case .waitingForUnlock(let error): throw error
        case .failed, .needsVersion: break look
        default: continue
        }
        isShown = true
        // 80 columns, and nothing is left of a longer line.
        show("\r\(text.prefix(79))\u{1B}[K")
    }
    try await gate.ready()
}

func startTool(
    in folder: String,
    version: String,
    show: @escaping (String) -> Void
) async throws {
    let gate = MigrationGate { progress in
        let options = progress.options(.init(attemptLimit: 3))
        try await runUntilInterrupted {
            let manager = { (name: String) in
                try MigrationManager(
                    named: name,
                    currentVersion: version,
                    firstRun: libraryVersion(in: folder),
                    stateDirectory: folder,
                    options: options
                )
            }
            let settings = try manager("Settings")
            let library = try manager("Library")
            try progress.plan(settings, declareSettings)
            try progress.plan(library, declareLibrary)
            try declareSettings(settings)
            try declareLibrary(library)
        }
    }
    try await showBar(of: gate, show)
}

func addNote(_ text: String, gate: MigrationGate) async throws {
    try await gate.ready()
    try save(text)
}

@Sendable private func libraryVersion(in folder: String) -> MigrationManager.FirstRun {
    FileManager.default.fileExists(atPath: folder + "/library.plist")
        ? .existingData(at: "1.0") : .freshInstall
}

/// The sample, in a device that is unlocked.
private func libraryGate(in folder: String, appVersion: String) -> MigrationGate {
    libraryGate(in: folder, appVersion: appVersion, isUnlocked: isUnlocked)
}

@Sendable private func declareSettings(_ migrations: MigrationManager) throws {
    try migrations.whenMigrating(toVersion: "1.2") { context in
        note("settings")
        try interruption.withLock { $0 }?(context)
    }
}

/// What a signal does while the settings are migrated.
private let interruption = Guarded<(@Sendable (MigrationContext) throws -> Void)?>(nil)
private let work = Guarded<Task<Void, any Error>?>(nil)

/// Stands for the sample of the tools, which cancels its task at a signal.
@Sendable private func runUntilInterrupted(
    _ start: @escaping @Sendable () async throws -> Void
) async throws {
    let task = Task.detached { try await start() }
    work.withLock { $0 = task }
    try await task.value
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
        appVersion: "1.4",
        isUnlocked: isUnlocked
    )

    @objc static func ready(
        _ completion: @escaping @MainActor (NSError?) -> Void
    ) {
        Task { @MainActor in
            do {
                try await gate.ready()
                completion(nil)
            } catch {
                completion(error as NSError)
            }
        }
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
                if let end = lines.popLast() { #expect(end == "\n") }
                return lines
            }
            _ = try MigrationManager(named: "Library", currentVersion: "1.0", stateDirectory: folder)
            let lines = try await shown("1.4")
            // A reader that is slow gets the newest state; each that it gets is a bar, and they never fall.
            let percents = lines.compactMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
            #expect(percents == percents.sorted() && lines.allSatisfy { $0.hasPrefix("\r[") }, "\(lines)")
            #expect(lines.allSatisfy { $0.hasSuffix("\u{1B}[K") })
            #expect(try await shown("1.4") == [])
            try await addNote("A door", gate: libraryGate(in: folder, appVersion: "1.4"))
        }
    }

    @Test func `a tool with two managers has one bar, and an interruption ends its start at a checkpoint`()
        async
    {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder async throws in
                func start() async throws -> [Int] {
                    var lines = [String]()
                    defer { calls.withLock { $0 = [] } }
                    try await startTool(in: folder, version: "1.4") { lines.append($0) }
                    return lines.compactMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
                }
                try Data("1.0".utf8).write(to: URL(filePath: folder + "/library.plist"))
                interruption.withLock {
                    $0 = { context in
                        while work.withLock({ $0 == nil }) {}
                        work.withLock { $0 }?.cancel()
                        try context.saveCheckpoint(1)
                    }
                }
                let error = await #expect(throws: MigrationError.self) { _ = try await start() }
                #expect(error?.code == .cancelled, "\(String(describing: error))")
                interruption.withLock { $0 = nil }
                let percents = try await start()
                #expect(percents == percents.sorted(), "\(percents)")
                #expect(try await start() == [])
            }
        }
    }

    @Test func `a new install runs no closure, and a door of an update waits for all of them`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder async throws in
                try await libraryGate(in: folder + "/new", appVersion: "1.4").ready()
                #expect(calls.withLock { $0 } == ["makeTables"])
                calls.withLock { $0 = [] }
                let shipped = folder + "/shipped"
                try FileManager.default.createDirectory(atPath: shipped, withIntermediateDirectories: true)
                try Data("1.0".utf8).write(to: URL(filePath: shipped + "/library.plist"))
                try await libraryGate(in: shipped, appVersion: "1.4").ready()
                #expect(
                    calls.withLock { $0 } == [
                        "rename Letters", "rename Drafts", "deleteCaches", "makeTables",
                    ]
                )
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

    @Test func `a phone that is locked at its first start is waited for, and nothing is written before`()
        async throws
    {
        try await withTemporaryFolder { folder async throws in
            let state = folder + "/state"
            let isOpen = Guarded(false)
            defer { isOpen.destroy() }
            let gate = libraryGate(in: state, appVersion: "1.4") { isOpen.withLock { $0 } }
            for await state in gate.states {
                if case .waitingForUnlock = state { break }
                if case .failed(let error) = state { throw error }
            }
            #expect(!FileManager.default.fileExists(atPath: state))
            isOpen.withLock { $0 = true }
            gate.retry()
            try await gate.ready()
            #expect(FileManager.default.fileExists(atPath: state))
        }
    }

    @Test func `"Try again" lets a migration run that too many processes died in, and nothing else does`()
        async throws
    {
        try await withTemporaryFolder { folder async throws in
            let died = """
                {"format":1,"name":"Library","lastRunVersion":"1.0","launchedVersion":"1.4","baseline":"1.0",
                "interrupted":{"version":"1.1","attempts":3,"deaths":2,"protected":[],"appVersion":"1.4",
                "startedAt":"2026-11-21T03:54:28Z","failure":null},"attempted":[],"history":[]}
                """
            try Data(died.utf8).write(to: URL(filePath: folder + "/Library.migrations.json"))
            for _ in 0..<2 {
                let gate = libraryGate(in: folder, appVersion: "1.4")
                let error = await #expect(throws: MigrationError.self) { try await gate.ready() }
                #expect(error?.code == .attemptLimitReached, "\(String(describing: error))")
            }
            let gate = libraryGate(in: folder, appVersion: "1.4")
            await #expect(throws: MigrationError.self) { try await gate.ready() }
            gate.retry()
            try await gate.ready()
            let state = try MigrationManager(named: "Library", currentVersion: "1.4", stateDirectory: folder)
            #expect(try state.history.map(\.version.description) == ["1.1", "1.4"])
        }
    }

    /// A screen's own closure: it changes what belongs to the main actor.
    @MainActor private final class Terminal {
        private(set) var text = ""
        func follow(_ gate: MigrationGate) async throws { try await showBar(of: gate) { text += $0 } }
    }

    @Test func `a line is cut to the width, and ends before an error is printed`() async throws {
        let terminal = Terminal()
        let note = String(repeating: "n", count: 200)
        let gates = Guarded<CheckedContinuation<Void, Never>?>(nil)
        defer { gates.destroy() }
        let gate = MigrationGate { progress in
            progress.expect(steps: 1)
            progress.report(0.5, note: note)
            await withCheckedContinuation { go in gates.withLock { $0 = go } }
            throw CancellationError()
        }
        let following = Task { try await terminal.follow(gate) }
        while gates.withLock({ $0 == nil }) { await Task.yield() }
        while await terminal.text.isEmpty { await Task.yield() }
        gates.withLock { $0 }?.resume()
        await #expect(throws: CancellationError.self) { try await following.value }
        let half = String(repeating: "#", count: 15) + String(repeating: "-", count: 15)
        let line = "[\(half)] 50 % " + note
        #expect(await terminal.text == "\r\(line.prefix(79))\u{1B}[K\n")
    }
}

import AppMigrations
import Foundation
import Synchronization
import Testing

@testable import AppStart

#if canImport(SwiftUI)
import SwiftUI
#endif

@Suite struct ShowingProgress {
    @Test func `an update shows what it does, and a start without one is planned and ready`() async throws {
        try await withFolder { folder async throws in
            func seen() async throws -> [String] {
                var states = [String]()
                let gate = libraryGate(in: URL(filePath: folder), appVersion: "1.4", isUnlocked: isUnlocked)
                for await state in gate.states { states.append("\(state)") }
                return states
            }
            try FileManager.default.createDirectory(
                atPath: folder + "/Notes",
                withIntermediateDirectories: false
            )
            for name in ["settings", "Notes/a.txt", "Notes/b.txt"] {
                try write("", to: folder + "/" + name)
            }
            #expect(try await seen().last == "ready")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder + "/Notes")
            #expect(try left.sorted() == ["a.md", "b.md"] && read(folder + "/settings") == "format = 2\n")
            #expect(try await !seen().contains { $0.hasPrefix("migrating") })
        }
    }

    @Test func `notes that 1.0 writes after an update are converted, and lose no other note`() async throws {
        try await withFolder { folder async throws in
            let start = {
                let gate = libraryGate(in: URL(filePath: folder), appVersion: "1.4", isUnlocked: isUnlocked)
                try await gate.ready()
            }
            try write("", to: folder + "/settings")
            // 1.0 without a note has no folder either.
            try await start()
            for text in ["first", "second", "third"] {
                try write(text, to: folder + "/Notes/1.txt")
                try await start()
            }
            let names = ["1 2.md", "1 3.md", "1.md"]
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/Notes").sorted() == names)
            #expect(try names.map { try read(folder + "/Notes/" + $0) } == ["second", "third", "first"])
        }
    }

    @Test func `a long name leaves room for a number`() {
        let name = String(repeating: "é", count: 126)
        var taken = Set(["\(name).md"])
        let free = freeName(name, &taken)
        #expect(free.hasSuffix(" 2.md") && free.utf8.count <= 255)
    }

    @Test func `settings keep what they say, and are converted once`() async throws {
        try await withFolder { folder async throws in
            let settings = folder + "/settings"
            try addFormat(in: URL(filePath: folder))
            #expect(!exists(settings))
            try write("theme = blue\n", to: settings)
            for _ in 1...2 { try addFormat(in: URL(filePath: folder)) }
            #expect(try read(settings) == "format = 2\ntheme = blue\n")
            try write("color = red\nformat = 2\n", to: settings)
            try addFormat(in: URL(filePath: folder))
            #expect(try read(settings) == "color = red\nformat = 2\n")
        }
    }

    private final class Flag: Sendable { let value = Mutex(false) }

    @Test func `a phone that is locked at its first start is waited for, and nothing is recorded before`()
        async throws
    {
        try await withFolder { folder async throws in
            let state = folder + "/Migrations/Library.migrations.json"
            let isOpen = Flag()
            let gate = libraryGate(in: URL(filePath: folder), appVersion: "1.4") {
                isOpen.value.withLock { $0 }
            }
            for await state in gate.states {
                if case .waitingForUnlock = state { break }
                if case .failed(let error) = state { throw error }
            }
            #expect(!exists(state))
            isOpen.value.withLock { $0 = true }
            gate.retry()
            try await gate.ready()
            #expect(exists(state) && exists(folder + "/Notes"))
        }
    }

    @Test func `a locked phone that has a state doesn't wait`() async throws {
        try await withFolder { folder async throws in
            for isOpen in [true, false] {
                let gate = libraryGate(in: URL(filePath: folder), appVersion: "1.4") { isOpen }
                try await gate.ready()
            }
        }
    }
}

/// The gate's doc comment.
private struct FirstPage {
    nonisolated struct Database: Sendable { func migrate() throws {} }

    func start(_ database: Database, in folder: URL) async throws {
        // Sample 1 of MigrationGate.swift
    }

    func takeStep(
        _ start: MigrationGate.Attempt,
        _ updateSearchIndex: (_ report: (Double) -> Void) throws -> Void
    ) throws {
        // Sample 1 of MigrationGate+Attempt.swift
    }

    func weigh(
        _ attempt: MigrationGate.Attempt,
        _ migrations: MigrationManager,
        _ declareLibrary: (MigrationManager) throws -> Void
    ) throws {
        // Sample 2 of ShowingProgress.md
    }

    func updateSearchIndex(_ report: (Double) -> Void) throws { report(1) }
}

// For Apple's systems only.

// Sample 1 of ShowingProgress.md

// Sample 1 of MigrationGate.md

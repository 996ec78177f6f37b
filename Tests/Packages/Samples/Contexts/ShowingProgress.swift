import AppMigrations
import AppMigrationsGate
import Foundation
import Synchronization
import Testing

#if canImport(SwiftUI)
import SwiftUI
#endif
#if canImport(UIKit)
import UIKit
#endif

@Suite struct ShowingProgress {
    // Sample 1 of ShowingProgress.md

    // Sample 2 of ShowingProgress.md

    let calls = Calls()
    let folders = ["Letters", "Drafts"]
    func rename(_ folder: String) throws { try calls.note() }
    func deleteCaches() throws { try calls.note() }
    func makeTables() throws { try calls.note() }

    func libraryVersion(in folder: String) -> MigrationManager.FirstRun {
        exists(folder + "/library.plist") ? .existingData(at: "1.0") : .freshInstall
    }

    final class Flag: Sendable { let value = Mutex(false) }

    private func gate(_ folder: String) -> MigrationGate {
        libraryGate(in: folder, appVersion: "1.4", isUnlocked: isUnlocked)
    }

    @Test func `an update shows what it does, and a start without one is planned and ready`() async throws {
        try await withFolder { folder async throws in
            func seen() async throws -> [MigrationGate.State] {
                var states = [MigrationGate.State]()
                for await state in gate(folder).states { states.append(state) }
                return states
            }
            _ = try MigrationManager(named: "Library", currentVersion: "1.0", stateDirectory: folder)
            _ = try await seen()
            let rest = try await seen()
            #expect(rest.allSatisfy { if case .migrating = $0 { false } else { true } }, "\(rest)")
            #expect(calls.take() == ["rename", "rename", "deleteCaches", "makeTables", "makeTables"])
        }
    }

    @Test func `a phone that is locked at its first start is waited for, and nothing is written before`()
        async throws
    {
        try await withFolder { folder async throws in
            let state = folder + "/state"
            let isOpen = Flag()
            let gate = libraryGate(in: state, appVersion: "1.4") { isOpen.value.withLock { $0 } }
            for await state in gate.states {
                if case .waitingForUnlock = state { break }
                if case .failed(let error) = state { throw error }
            }
            #expect(!exists(state))
            isOpen.value.withLock { $0 = true }
            gate.retry()
            try await gate.ready()
            #expect(exists(state))
        }
    }
}

/// The first page and the gate's doc comment.
private struct FirstPage {
    struct Database: Sendable { func migrate() throws {} }

    func start(in folder: URL, appVersion: String) async throws {
        // Sample 1 of AppMigrationsGate.md
    }

    func start(_ database: Database) async throws {
        // Sample 1 of MigrationGate.swift
    }

    func weigh(_ progress: MigrationGate.Progress, _ migrations: MigrationManager) throws {
        // Sample 4 of ShowingProgress.md
    }

    func libraryVersion(in folder: URL) -> MigrationManager.FirstRun { .everything }
    func declareLibrary(_ migrations: MigrationManager) throws {}
    func openDatabase() throws {}
}

// What only Apple's systems have.

// Sample 3 of ShowingProgress.md

#if canImport(ObjectiveC)
@Sendable private func isUnlocked() async -> Bool { await ShowingProgress().isUnlocked() }

private func libraryGate(
    in folder: String,
    appVersion: String,
    isUnlocked: @escaping @Sendable () async -> Bool
) -> MigrationGate {
    ShowingProgress().libraryGate(in: folder, appVersion: appVersion, isUnlocked: isUnlocked)
}
#endif

// Sample 1 of MigrationGate.md

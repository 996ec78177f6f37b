import AppMigrations

/// Plays many lives in one process, told by `Tests/Torture/model`.
///
/// A line on the standard input is one thing that an app does, and the lines up to a dot alone on the standard output are
/// what came of it:
/// - `folder PATH`: the state directory of the managers that are made from here on
/// - `new SLOT VERSION FIRST LIMIT`: a manager; FIRST is `fresh`, `everything`, `throw` or a version, LIMIT a number or `-`
/// - `declare SLOT sync|async VERSION ACTION FLOOR CURSOR`: `VERSION!RELEASE` is declared with `addedIn:`, also in a plan;
///   FLOOR and CURSOR can be `-`; ACTION is `ok`, `throw`, `cancel`, `die`, or `hold`, which reads the next line inside the
///   closure: `go ACTION`
/// - `plan SLOT sync|async VERSION,…` · `reset SLOT VERSION` · `forget SLOT` · `last SLOT` · `history SLOT`
final class Server {
    private var folder = ""
    private var managers: [String: MigrationManager] = [:]

    struct Told: Error {}

    func run() async {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                try await perform(words)
            } catch let error as MigrationError {
                System.say("error \(error.code)")
            } catch {
                System.say("other \(error)")
            }
            System.say(".")
        }
    }

    private func perform(_ words: [String]) async throws {
        switch (words.first, words.count) {
        case ("folder", 2): (folder, managers) = (words[1], [:])
        case ("new", 5): try make(words[1], words[2], first: words[3], limit: Int(words[4]))
        case ("declare", 7):
            let manager = try manager(words[1])
            let ran =
                words[2] == "async"
                ? try await declareAsynchronously(manager, words)
                : try declare(manager, words)
            System.say("returned \(ran)")
        case ("plan", 4):
            let manager = try manager(words[1])
            let versions = words[3].split(separator: ",").map(String.init)
            let rows =
                words[2] == "async"
                ? try await planAsynchronously(manager, versions) : try plan(manager, versions)
            for row in rows {
                System.say("row \(row.version) \(row.kind) \(row.error.map { "\($0.code)" } ?? "-")")
            }
        case ("reset", 3): try manager(words[1]).reset(to: words[2])
        case ("forget", 2):
            _ = try MigrationManager.forgetState(
                named: "Library",
                stateDirectory: folder,
                lockTimeout: .zero
            )
        case ("last", 2):
            let manager = try manager(words[1])
            let required = manager.requiredAppVersion.map { "\($0)" } ?? "-"
            System.say("last \(manager.lastRunVersion) \(required)")
        case ("history", 2):
            for row in try manager(words[1]).status.history {
                System.say("row \(row.version) \(row.previousVersion) \(row.appVersion) \(row.attemptCount)")
            }
        default: throw System.Failure(description: "unknown: \(words)")
        }
    }

    private func manager(_ slot: String) throws -> MigrationManager {
        guard let manager = managers[slot] else { throw System.Failure(description: "no manager \(slot)") }
        return manager
    }

    private func make(_ slot: String, _ version: String, first: String, limit: Int?) throws {
        managers[slot] = nil
        // No wait: a lock that is held is one of the situations.
        let options = MigrationManager.Options(lockTimeout: .zero, attemptLimit: limit)
        let manager = try MigrationManager(
            named: "Library",
            currentVersion: version,
            firstRun: try answer(first),
            stateDirectory: folder,
            options: options
        )
        managers[slot] = manager
        let launch =
            switch manager.launch {
            case .first: "first"
            case .same: "same"
            case .upgrade(let version): "upgrade \(version)"
            case .downgrade(let version): "downgrade \(version)"
            }
        System.say("launch \(launch)")
    }

    private func answer(_ first: String) throws -> MigrationManager.FirstRun {
        System.say("asked")
        switch first {
        case "fresh": return .freshInstall
        case "everything": return .everything
        case "throw": throw Told()
        default: return .existingData(at: first)
        }
    }
}

extension Server {
    private func declare(_ manager: MigrationManager, _ words: [String]) throws -> Bool {
        try manager.whenMigrating(
            toVersion: Self.version(words[3]),
            addedIn: Self.release(words[3]),
            minimumAppVersion: Self.given(words[5])
        ) { context in
            try act(context, words)
        }
    }

    /// The version in `VERSION` or `VERSION!RELEASE`.
    private static func version(_ word: String) -> String { String(word.prefix { $0 != "!" }) }

    private static func release(_ word: String) -> String? {
        word.contains("!") ? String(word.drop { $0 != "!" }.dropFirst()) : nil
    }

    private static func given(_ word: String) -> String? { word == "-" ? nil : word }

    private func declareAsynchronously(_ manager: MigrationManager, _ words: [String]) async throws -> Bool {
        try await manager.whenMigrating(
            toVersion: Self.version(words[3]),
            addedIn: Self.release(words[3]),
            minimumAppVersion: Self.given(words[5])
        ) { context in
            await Task.yield()
            try act(context, words)
        }
    }

    private func plan(_ manager: MigrationManager, _ versions: [String]) throws -> [PlannedMigration] {
        try manager.plan { manager in
            for version in versions {
                try manager.whenMigrating(
                    toVersion: Self.version(version),
                    addedIn: Self.release(version)
                ) { System.say("ran in a plan") }
            }
        }
    }

    private func planAsynchronously(
        _ manager: MigrationManager,
        _ versions: [String]
    ) async throws -> [PlannedMigration] {
        try await manager.plan { manager in
            for version in versions {
                try await manager.whenMigrating(
                    toVersion: Self.version(version),
                    addedIn: Self.release(version)
                ) {
                    await Task.yield()
                    System.say("ran in a plan")
                }
            }
        }
    }

    private func act(_ context: MigrationContext, _ words: [String]) throws {
        let app = context.checkpointAppVersion.map { "\($0)" } ?? "-"
        let known = "\(context.version) \(context.attempt) \(context.isRetry) \(context.previousVersion)"
        System.say("run \(known) \(context.checkpoint ?? "-") \(app)")
        if let cursor = Self.given(words[6]) { try context.saveCheckpoint(cursor) }
        try act(words[4])
    }

    private func act(_ action: String) throws {
        switch action {
        case "ok": return
        case "throw": throw Told()
        case "cancel": throw CancellationError()
        case "die": System.die()
        case "hold":
            System.say("held")
            System.say(".")
            guard let line = readLine(), line.hasPrefix("go ") else {
                throw System.Failure(description: "no go")
            }
            try act(String(line.dropFirst(3)))
        default: throw System.Failure(description: "unknown: \(action)")
        }
    }
}

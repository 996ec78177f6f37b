import AppMigrations
import Foundation

nonisolated func groupGate(
    movingFrom old: URL,
    to container: URL,
    appVersion: String,
    isUnlocked: @escaping @Sendable () async -> Bool
) -> MigrationGate {
    @Sendable func state(in folder: URL) -> String {
        folder.appending(path: "Migrations")
            .path(percentEncoded: false)
    }
    return MigrationGate { attempt in
        let isUnlocked = await isUnlocked()
        func oldVersion() throws -> MigrationManager.FirstRun {
            // A locked file must not look like a missing one.
            if !isUnlocked { throw MigrationGate.RequiresUnlock() }
            return try libraryVersion(in: old)
        }
        let before = try MigrationManager(
            named: "Library",
            currentVersion: appVersion,
            firstRun: oldVersion(),
            stateDirectory: state(in: old),
            options: attempt.options(.init(attemptLimit: 3))
        )
        let after = try MigrationManager(
            named: "Group",
            currentVersion: appVersion,
            firstRun: .everything,
            stateDirectory: state(in: container),
            options: attempt.options(.init(attemptLimit: 3))
        )
        if attempt.isRetry {
            try before.resetAttempts()
            try after.resetAttempts()
        }
        func declareOld(_ migrations: MigrationManager) throws {
            try declareLibrary(migrations, in: old)
            // An older release would find no notes.
            try migrations.whenMigrating(
                toVersion: "3.2",
                minimumAppVersion: "3.2"
            ) {}
        }
        func declareNew(_ migrations: MigrationManager) throws {
            try declareGroup(migrations, from: old, to: container)
        }
        try attempt.plan(before, declareOld)
        try attempt.plan(after, declareNew)
        try declareOld(before)
        // A user who went back to a release without this library
        // has new files of the old form in the old folder.
        try prepareLibrary(before, in: old)
        try declareNew(after)
        try after.withLock {
            try moveLibrary(from: old, to: container)
        }
    }
}

nonisolated func declareGroup(
    _ migrations: MigrationManager,
    from old: URL,
    to container: URL
) throws {
    try migrations.whenMigrating(toVersion: "3.2") { context in
        try moveLibrary(from: old, to: container)
        try context.synchronize([
            container.path(percentEncoded: false),
            old.path(percentEncoded: false),
        ])
    }
    // Declare each later migration here.
}

nonisolated func moveLibrary(
    from old: URL,
    to container: URL
) throws {
    let files = FileManager.default
    let source = old.appending(path: "Notes")
    let notes = container.appending(path: "Notes")
    try files.createDirectory(
        at: notes,
        withIntermediateDirectories: true
    )
    var taken = Set(try names(in: notes).map { $0.lowercased() })
    for name in try names(in: source) where name.hasSuffix(".md") {
        let new = freeName(String(name.dropLast(3)), &taken)
        try files.moveItem(
            at: source.appending(path: name),
            to: notes.appending(path: new)
        )
    }
    // Nothing is overwritten. If the group has settings, an older
    // release has written new ones, and the app has to merge them.
    if try settings(in: old) != nil {
        let all = Set(try names(in: container))
        var name = "settings"
        var number = 2
        while all.contains(name) {
            name = "settings \(number)"
            number += 1
        }
        try files.moveItem(
            at: old.appending(path: "settings"),
            to: container.appending(path: name)
        )
    }
}

import AppMigrations
import Foundation

nonisolated func libraryGate(
    in folder: URL,
    appVersion: String,
    isUnlocked: @escaping @Sendable () async -> Bool
) -> MigrationGate {
    MigrationGate(
        named: "Library",
        currentVersion: appVersion,
        // Called only if nothing is recorded yet.
        firstRun: { try libraryVersion(in: folder) },
        isUnlocked: isUnlocked,
        stateDirectory: folder.appending(path: "Migrations")
            .path(percentEncoded: false),
        options: .init(attemptLimit: 3)
    ) { migrations in
        try declareLibrary(migrations, in: folder)
    } afterMigrating: { migrations in
        try prepareLibrary(migrations, in: folder)
    }
}

nonisolated func libraryVersion(
    in folder: URL
) throws -> MigrationManager.FirstRun {
    let notes = try names(in: folder.appending(path: "Notes"))
    let settings = try settings(in: folder)
    // 1.2 renamed the notes one by one, and a crash may have left
    // notes of both kinds. So check for the older kind first.
    if notes.contains(where: { $0.hasSuffix(".txt") }) {
        return .existingData(at: "1.0")
    }
    if let settings, hasFormat(settings) {
        return .existingData(at: "1.4")
    }
    return notes.isEmpty && settings == nil
        ? .freshInstall : .existingData(at: "1.2")
}

nonisolated func declareLibrary(
    _ migrations: MigrationManager,
    in folder: URL
) throws {
    let path = folder.path(percentEncoded: false)
    try migrations.whenMigrating(toVersion: "1.1") { context in
        try renameTexts(in: folder) { done, name in
            context.reportProgress(done, note: name)
        }
        try context.synchronize([path])
    }
    try migrations.whenMigrating(
        toVersion: "1.4",
        minimumAppVersion: "1.4"
    ) { context in
        try addFormat(in: folder)
        try context.synchronize([path])
    }
}

// This runs at every start. A new install runs no closure, so it
// gets its folders here. A user who went back to an older release
// has new files of the old form, which are converted here.
nonisolated func prepareLibrary(
    _ migrations: MigrationManager,
    in folder: URL
) throws {
    try migrations.withLock {
        try FileManager.default.createDirectory(
            at: folder.appending(path: "Notes"),
            withIntermediateDirectories: true
        )
        try renameTexts(in: folder)
        try addFormat(in: folder)
    }
}

nonisolated func renameTexts(
    in folder: URL,
    report: (Double, String) -> Void = { _, _ in }
) throws {
    let notes = folder.appending(path: "Notes")
    let all = try names(in: notes)
    let texts = all.filter { $0.hasSuffix(".txt") }
    var taken = Set(all.map { $0.lowercased() })
    for (index, text) in texts.enumerated() {
        let name = String(text.dropLast(4))
        try FileManager.default.moveItem(
            at: notes.appending(path: text),
            to: notes.appending(path: freeName(name, &taken))
        )
        report(Double(index + 1) / Double(texts.count), name)
    }
}

// An older release may have used the name of a note again. Some
// file systems don't distinguish A from a.
nonisolated func freeName(
    _ name: String,
    _ taken: inout Set<String>
) -> String {
    var free = name + ".md"
    var number = 2
    // A file name has at most 255 bytes.
    var start = name
    while start.utf8.count > 240 { start.removeLast() }
    while !taken.insert(free.lowercased()).inserted {
        free = "\(start) \(number).md"
        number += 1
    }
    return free
}

// An older release may keep this line, move it or drop it.
nonisolated let formatLine = "format = 2"

nonisolated func hasFormat(_ settings: Data) -> Bool {
    String(decoding: settings, as: UTF8.self)
        .split(separator: "\n").contains { $0 == formatLine }
}

nonisolated func addFormat(in folder: URL) throws {
    guard let old = try settings(in: folder) else { return }
    if !hasFormat(old) {
        try (Data("\(formatLine)\n".utf8) + old).write(
            to: folder.appending(path: "settings"),
            options: .atomic
        )
    }
}

// Only a file that doesn't exist counts as missing. Any other
// error ends the start.
nonisolated func settings(in folder: URL) throws -> Data? {
    let file = folder.appending(path: "settings")
    do { return try Data(contentsOf: file) } catch CocoaError.fileReadNoSuchFile {
        return nil
    }
}

nonisolated func names(in folder: URL) throws -> [String] {
    let path = folder.path(percentEncoded: false)
    do {
        return try FileManager.default
            .contentsOfDirectory(atPath: path)
    } catch CocoaError.fileReadNoSuchFile {
        return []
    }
}

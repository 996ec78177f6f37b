import AppMigrations
import Foundation
@_exported import TestSupport
import Testing

/// A manager named `Library`, whose state is in the folder of that path.
func library(
    _ currentVersion: String,
    in stateDirectory: String,
    firstRun: @autoclosure () throws -> MigrationManager.FirstRun = .everything,
    options: MigrationManager.Options = MigrationManager.Options()
) throws(MigrationError) -> MigrationManager {
    try MigrationManager(
        named: "Library",
        currentVersion: currentVersion,
        firstRun: try firstRun(),
        stateDirectory: stateDirectory,
        options: options
    )
}

/// Steps of tests with a manager named `Library` in a folder.
extension TemporaryDirectory {
    var stateFile: String { path + "/Library.migrations.json" }
    var lockFile: String { path + "/Library.migrations.lock" }

    /// Something in the way of every save: a folder that has the temporary file's name.
    var obstacle: String { stateFile + ".tmp" }

    /// The folder of the state, where a test has files to migrate beside it.
    var state: TemporaryDirectory { TemporaryDirectory(path: path + "/state") }

    func manager(
        _ currentVersion: String = "1.4",
        firstRun: @autoclosure () throws -> MigrationManager.FirstRun = .freshInstall,
        options: MigrationManager.Options = MigrationManager.Options()
    ) throws(MigrationError) -> MigrationManager {
        let folder = PathSpelling.spelledFolder(path)
        return try library(currentVersion, in: folder, firstRun: try firstRun(), options: options)
    }

    /// A manager of a state that is written by hand.
    func manager(
        _ currentVersion: String,
        after lastRun: String,
        launched: String? = nil,
        options: MigrationManager.Options = MigrationManager.Options()
    ) throws -> MigrationManager {
        try writeState(lastRun: lastRun, launched: launched)
        return try manager(currentVersion, options: options)
    }

    /// A manager of files at 1.0, whose state has a folder of its own beside them.
    func manager(
        upgradingTo currentVersion: String,
        firstRun: MigrationManager.FirstRun = .existingData(at: "1.0"),
        options: MigrationManager.Options = MigrationManager.Options()
    ) throws(MigrationError) -> MigrationManager {
        try state.manager(currentVersion, firstRun: firstRun, options: options)
    }

    /// Forgets the state, and gives the path to which it was moved.
    func forget(lockTimeout: Duration? = nil) throws(MigrationError) -> String? {
        try MigrationManager.forgetState(named: "Library", stateDirectory: path, lockTimeout: lockTimeout)
    }

    /// Each name with its file's content, number, times and mode.
    func everything() throws -> [String] {
        try names().map { name in
            let file = path + "/" + name
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            let keys: [FileAttributeKey] = [.systemFileNumber, .posixPermissions, .modificationDate]
            let status = keys.map { String(describing: attributes[$0]) }
            let content = try Data(contentsOf: URL(filePath: file)).base64EncodedString()
            return "\(name) \(status) \(content)"
        }
    }

    /// Writes a state by hand; `more` is further members, with a comma at the end.
    func writeState(lastRun: String, baseline: String? = nil, launched: String? = nil, more: String = "")
        throws
    {
        let text = """
            { "format": 1, "name": "Library", \(more) "lastRunVersion": "\(lastRun)",
              "baseline": "\(baseline ?? lastRun)", "launchedVersion": "\(launched ?? lastRun)", "history": [] }
            """
        try write(text)
    }

    func write(_ text: String) throws { try write(text, to: stateFile) }

    func setMode(_ mode: mode_t, of name: String) throws { try #require(chmod(file(name), mode) == 0) }

    /// Makes this process, and all files in the folder except `names`, those of the user nobody, if the tests run as root.
    func becomeNobody(but names: String...) throws {
        if geteuid() != 0 { return }
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) + [""]
        where !names.contains(name) {
            try #require(lchown(file(name), 65_534, 65_534) == 0)
        }
        #if os(Linux)
        try #require(setgroups(0, nil) == 0)
        #endif
        try #require(setgid(65_534) == 0 && setuid(65_534) == 0)
    }

    func stateText() throws -> String { try String(contentsOfFile: stateFile, encoding: .utf8) }
}

/// The member of a state whose process died in a migration, for ``TemporaryDirectory/writeState``.
func died(
    in version: String,
    before crashCount: Int = 0,
    app: String = "1.4",
    more: String = ""
) -> String {
    """
    "latestAttempt": { "version": "\(version)", "attemptCount": \(crashCount + 1), "crashCount": \(crashCount),
      "appVersion": "\(app)", "startedAt": "2026-11-21T03:54:28Z", "failure": null \(more) },
    """
}

/// Ends this process as a crash, the system or the user would.
func die() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
}

/// Appends a line in one call, so that it outlives the death of the process.
func append(_ line: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array((line + "\n").utf8)
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
}

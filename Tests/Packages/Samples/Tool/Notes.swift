import AppMigrationsCommandLine
import Foundation

@main nonisolated struct Notes {
    let usage = """
        notes                  start
        notes --dry-run        print which migrations would run
        notes status [--json]  print what has run
        notes reset-attempts   let a migration that crashed run
        notes repair           move a damaged state aside
        With --verbose, an error is printed with its details.
        """
    let version = "2.1"
    let attemptLimit = 3
    let names = ["Settings", "Library"]
    let folder: String
    let isVerbose: Bool
    /// Only the library uses this folder.
    var stateFolder: String { folder + "/.migrations" }

    static func main() async {
        // In `notes | head`, `head` may end first. Without this
        // line, the next output would then kill this process.
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        let notes = Notes(
            folder: dataFolder() + "/notes",
            isVerbose: arguments.contains("--verbose")
        )
        exit(
            await notes.run(arguments.filter { $0 != "--verbose" })
        )
    }

    /// The folder for data in the XDG Base Directory Specification.
    ///
    /// A relative path has to be ignored.
    static func dataFolder() -> String {
        let variables = ProcessInfo.processInfo.environment
        if let folder = variables["XDG_DATA_HOME"],
            folder.hasPrefix("/")
        {
            return folder
        }
        let home = variables["HOME"] ?? NSHomeDirectory()
        // `run` refuses a relative path. Without this check, an
        // empty HOME would mean the folder `/.local`.
        return home.hasPrefix("/") ? home + "/.local/share" : "."
    }

    func run(_ arguments: [String]) async -> Int32 {
        guard folder.hasPrefix("/") else {
            tell("Set HOME to an absolute path.")
            return 78
        }
        let isReadOnly = ["--dry-run", "status"]
            .contains(arguments.first)
        if !isReadOnly, isRootInFolderOfAnotherUser {
            // Its new files would belong to root.
            tell("Start it as the user who owns \(folder).")
            return 77
        }
        do {
            switch arguments {
            case []: try await start()
            case ["--dry-run"]: try await dryRun()
            case ["status"]: return showStatus { "\($0)" }
            case ["status", "--json"]:
                return showStatus { $0.json }
            case ["reset-attempts"]: try resetAttempts()
            case ["repair"]: return repair()
            default:
                tell(usage)
                return 64
            }
            return 0
        } catch {
            tell(error)
            // After Ctrl-C, only a process that ended by the
            // signal stops the script that runs it.
            MigrationGate.endProcess(after: error)
        }
    }

    /// Asks for the owner of the folder, or of the folder in
    /// which it will be created.
    var isRootInFolderOfAnotherUser: Bool {
        var path = URL(filePath: folder)
        var status = stat()
        while stat(path.path(percentEncoded: false), &status) != 0,
            path.pathComponents.count > 1
        {
            path.deleteLastPathComponent()
        }
        return geteuid() == 0 && status.st_uid != 0
    }

    /// Prints a sentence for the user, the command that helps, and
    /// the file.
    ///
    /// The text of the error is for you.
    func tell(_ error: any Error) {
        let advice = MigrationAdvice(after: error)
        let code = (error as? MigrationError)?.code
        if code == .attemptLimitReached {
            tell(afterCrashes)
        } else if code == .stateCorrupted {
            tell(
                isLink(error)
                    ? "The state is a link. Put its file there."
                    : "The state is damaged. Call: notes repair"
            )
        } else {
            tell(advice.description)
        }
        // After Ctrl-C, the details would say nothing new.
        if advice == .continueLater { return }
        if isVerbose {
            tell("\(error)")
        } else {
            if let path = path(in: error) { tell("File: \(path)") }
            tell("To see the details, add --verbose.")
        }
        tell("Our address is support@example.com.")
    }

    /// The file that the user may have to change.
    func path(in error: any Error) -> String? {
        let migration = error as? MigrationError
        let cause = migration?.underlyingError ?? error
        return (cause as? CocoaError)?.filePath
            ?? (cause as? SystemCallError)?.path
            ?? migration?.path
    }

    func isLink(_ error: any Error) -> Bool {
        let path = (error as? MigrationError)?.path ?? ""
        let target = try? FileManager.default
            .destinationOfSymbolicLink(atPath: path)
        return target != nil
    }

    let afterCrashes = """
        The update crashed several times.
        Call: notes reset-attempts, and then notes
        """

    func tell(_ text: String) {
        let line = Data((text + "\n").utf8)
        try? FileHandle.standardError.write(contentsOf: line)
    }

    // MARK: Migrations

    func manager(
        _ name: String,
        _ options: MigrationManager.Options
    ) throws -> MigrationManager {
        try MigrationManager(
            named: name,
            currentVersion: version,
            // Evaluated only if there is no state yet, and while
            // the manager holds the lock.
            firstRun: try name == "Settings"
                ? settingsVersion() : notesVersion(),
            stateDirectory: stateFolder,
            options: options
        )
    }

    func settingsVersion() throws -> MigrationManager.FirstRun {
        guard let isOld = try settingsHaveOldKey()
        else { return .freshInstall }
        return .existingData(at: isOld ? "1.0" : "1.2")
    }

    /// Returns nil if there are no settings.
    func settingsHaveOldKey() throws -> Bool? {
        do {
            let file = URL(filePath: folder + "/settings")
            let data = try Data(contentsOf: file)
            // The file may contain text that isn't UTF-8.
            let text = String(decoding: data, as: UTF8.self)
            // 1.2 has renamed this key. A value may contain it.
            return text.split(whereSeparator: \.isNewline)
                .contains { $0.hasPrefix("colour ") }
        } catch CocoaError.fileReadNoSuchFile {
            // Any other error ends the start.
            return nil
        }
    }

    func notesVersion() throws -> MigrationManager.FirstRun {
        // A crash of 2.0 may have left notes of both kinds.
        if try !notes(ofType: ".txt").isEmpty {
            return .existingData(at: "1.0")
        }
        return try notes(ofType: ".md").isEmpty
            ? .freshInstall : .existingData(at: "2.0")
    }

    func notes(ofType type: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder)
        else { return [] }
        return try FileManager.default
            .contentsOfDirectory(atPath: folder)
            // Not the files `.dat.nosync…`, which Foundation
            // leaves if the process is killed, and not the files
            // `._…`, which macOS writes to some disks.
            .filter { $0.hasSuffix(type) && !$0.hasPrefix(".") }
            .filter(isFile)
    }

    /// False for a folder, and for a link that leads nowhere.
    func isFile(_ name: String) -> Bool {
        var status = stat()
        if stat(folder + "/" + name, &status) != 0 {
            // Without permissions, it may be a note.
            return ![ENOENT, ENOTDIR, ELOOP].contains(errno)
        }
        return status.st_mode & S_IFMT == S_IFREG
    }

    nonisolated(nonsending) func declare(
        _ manager: MigrationManager
    ) async throws {
        if manager.name == "Settings" {
            try await manager.whenMigrating(toVersion: "1.2") {
                // The user may have removed the settings.
                guard try settingsHaveOldKey() != nil
                else { return }
                try await renameKeys(folder)
                try $0.synchronize([folder + "/settings"])
            }
        } else {
            try await manager.whenMigrating(toVersion: "2.0") {
                try await convertNotes($0)
            }
        }
    }

    nonisolated(nonsending) func convertNotes(
        _ context: MigrationContext
    ) async throws {
        // Ask the folder which notes are left, and not the
        // checkpoint: 1.0 may have written notes since then.
        var left = try notes(ofType: ".txt")
        let done = try notes(ofType: ".md").count
        let all = Double(done + left.count)
        while let last = left.prefix(50).last {
            let batch = left.prefix(50)
            var written: [String] = []
            for note in batch {
                do {
                    written.append(try await convert(note))
                } catch {
                    if concernsAllNotes(error) { throw error }
                    // `prepare` tries again, and tells the user.
                }
            }
            try context.synchronize(written)
            left.removeFirst(batch.count)
            // From here, Ctrl-C can end the migration.
            try context.saveCheckpoint(
                last,
                progress: 1 - Double(left.count) / all
            )
        }
    }

    /// Converts a note.
    ///
    /// If it isn't one, moves it aside: every start would find it
    /// again.
    nonisolated(nonsending) func convert(
        _ note: String
    ) async throws -> String {
        do {
            return try await convertNote(note, in: folder)
        } catch is NotANote {
            return try moveAside(note)
        }
    }

    /// True if the next note would fail, too.
    func concernsAllNotes(_ error: any Error) -> Bool {
        let advice = MigrationAdvice(after: error)
        return advice == .makeRoom || advice == .continueLater
            || !FileManager.default.isWritableFile(atPath: folder)
    }

    func moveAside(_ note: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: folder + "/unreadable",
            withIntermediateDirectories: true
        )
        var path = folder + "/unreadable/" + note
        // 1.0 may have used the name again.
        while FileManager.default.fileExists(atPath: path) {
            path += "~"
        }
        try FileManager.default.moveItem(
            atPath: folder + "/" + note,
            toPath: path
        )
        // The progress bar may be in the current line.
        tell("\n\(note) can't be read. It is now: \(path)")
        return path
    }

    /// Converts what 1.0 has written after the migration, or what the
    /// user has restored.
    ///
    /// This runs at every start.
    nonisolated(nonsending) func prepare(
        _ manager: MigrationManager
    ) async throws {
        if manager.name == "Settings" {
            guard try settingsHaveOldKey() == true
            else { return }
            try await manager.withLock {
                // Another process may have converted them.
                guard try settingsHaveOldKey() == true
                else { return }
                try await renameKeys(folder)
            }
            return
        }
        if try notes(ofType: ".txt").isEmpty { return }
        try await manager.withLock {
            for note in try notes(ofType: ".txt") {
                // No checkpoint is saved here that Ctrl-C could
                // end.
                try Task.checkCancellation()
                do {
                    _ = try await convert(note)
                } catch {
                    if concernsAllNotes(error) { throw error }
                    // One note must not stop every start.
                    tell("\(note) was not converted: \(error)")
                }
            }
        }
    }

    // MARK: Commands

    var options: MigrationManager.Options {
        .init(
            lockTimeout: .seconds(60),
            attemptLimit: attemptLimit
        )
    }

    var readOnly: MigrationManager.Options {
        .init(attemptLimit: attemptLimit, isReadOnly: true)
    }

    func start() async throws {
        let gate = MigrationGate { attempt in
            let managers = try names.map {
                try manager($0, attempt.options(options))
            }
            // Plan all of them first, for one progress bar. 2.0 of
            // the library takes as long as 20 other migrations, so
            // it gets 20 times as much of the bar as each of them.
            for manager in managers {
                let isLibrary = manager.name == "Library"
                try await attempt.plan(
                    manager,
                    weights: isLibrary ? ["2.0": 20] : [:],
                    declare
                )
            }
            for manager in managers { try await declare(manager) }
            for manager in managers { try await prepare(manager) }
        }
        try await gate.readyInTerminal()
    }

    func dryRun() async throws {
        for name in names {
            let manager = try manager(name, readOnly)
            if let version = manager.requiredAppVersion {
                throw MigrationGate.RequiresAppVersion(
                    version: version,
                    managerName: name
                )
            }
            for migration in try await manager.plan(declare) {
                if let error = migration.error { throw error }
                print("\(name) \(migration)")
            }
        }
    }

    /// If one state is damaged, the others are shown as well.
    func showStatus(
        as text: (MigrationStatus) -> String
    ) -> Int32 {
        var exitCode: Int32 = 0
        for name in names {
            do {
                let status = try manager(name, readOnly).status
                print(text(status))
                let crashes = status.latestAttempt?.crashCount ?? 0
                if crashes >= attemptLimit {
                    tell(afterCrashes)
                }
                if name == "Library" { try tellUnreadable() }
            } catch {
                tell(error)
                exitCode = MigrationGate.exitCode(after: error)
            }
        }
        return exitCode
    }

    /// Says how many notes were moved aside.
    func tellUnreadable() throws {
        let path = folder + "/unreadable"
        guard FileManager.default.fileExists(atPath: path)
        else { return }
        let count = try FileManager.default
            .contentsOfDirectory(atPath: path)
            .count { !$0.hasPrefix(".") }
        if count > 0 { tell("Unreadable: \(count), in \(path)") }
    }

    /// Sets the counts of crashes back to 0.
    func resetAttempts() throws {
        for name in names {
            // A manager that isn't read-only would create a state.
            let status = try manager(name, readOnly).status
            guard status.hasState else { continue }
            try manager(name, options).resetAttempts()
        }
    }

    /// Moves each damaged state aside.
    ///
    /// The next start evaluates `firstRun:` for the data of these
    /// subsystems.
    func repair() -> Int32 {
        var exitCode: Int32 = 0
        for name in names {
            do {
                guard try isDamaged(name) else { continue }
                let kept = try MigrationManager.forgetState(
                    named: name,
                    stateDirectory: stateFolder,
                    lockTimeout: .seconds(60)
                )
                if let kept { tell("Kept as \(kept)") }
            } catch {
                tell(error)
                exitCode = MigrationGate.exitCode(after: error)
            }
        }
        return exitCode
    }

    func isDamaged(_ name: String) throws -> Bool {
        do {
            _ = try manager(name, readOnly).status
            return false
        } catch let error as MigrationError {
            // To move a link aside would lose a good state.
            if error.code != .stateCorrupted || isLink(error) {
                throw error
            }
            if isVerbose { tell("\(error)") }
            return true
        }
    }
}

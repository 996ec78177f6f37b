/// What the person at the command line asks for.
enum Command {
    case help
    case tour
    case start(folder: String, release: Release, killPoint: String?, isSlow: Bool)
    /// Looks at a folder, and changes nothing.
    case look(folder: String, release: Release, Look)

    enum Look { case dryRun, status, statusAsJSON }
}

/// Arguments that make no sense; the app ends with exit code 64, as `sysexits.h` has it.
struct UsageError: Error, CustomStringConvertible {
    let description: String
}

extension Command {
    init(parsing arguments: [String]) throws(UsageError) {
        if arguments.contains("--help") || arguments.contains("-h") {
            self = .help
            return
        }
        var values: [String: String] = [:]
        let flags = Set(arguments.filter(Self.flags.contains))
        var rest = arguments.filter { !Self.flags.contains($0) }[...]
        while let argument = rest.popFirst() {
            let equals = argument.firstIndex(of: "=")
            let option = String(argument[..<(equals ?? argument.endIndex)])
            guard Self.options.contains(option) else {
                throw UsageError(description: "Unknown argument \(argument.debugDescription).")
            }
            let value = equals.map { String(argument[argument.index(after: $0)...]) } ?? rest.popFirst()
            guard let value, !value.isEmpty, !Self.options.contains(value) else {
                throw UsageError(description: "\(option) needs a value after it.")
            }
            guard values.updateValue(value, forKey: option) == nil else {
                throw UsageError(description: "\(option) is given twice.")
            }
        }
        let look = try Self.look(flags)
        guard !values.isEmpty || !flags.isEmpty else {
            self = .tour
            return
        }
        guard let folder = values["--data"], let version = values["--version"] else {
            throw UsageError(
                description: "--data and --version go together: a folder, and the release to start."
            )
        }
        let release = try Self.release(version)
        if let look {
            let disturbance = values.keys.first { $0 == "--kill-at" } ?? flags.first { $0 == "--slow" }
            if let disturbance {
                throw UsageError(
                    description: "\(disturbance) needs a start that runs something, and a look runs nothing."
                )
            }
            self = .look(folder: folder, release: release, look)
            return
        }
        if let point = values["--kill-at"] { try Self.check(point, of: release) }
        self = .start(
            folder: folder,
            release: release,
            killPoint: values["--kill-at"],
            isSlow: flags.contains("--slow")
        )
    }

    private static let options = ["--data", "--version", "--kill-at"]
    private static let flags: Set = ["--dry-run", "--status", "--json", "--slow"]

    private static func look(_ flags: Set<String>) throws(UsageError) -> Look? {
        if flags.isSuperset(of: ["--dry-run", "--status"]) {
            throw UsageError(description: "--dry-run and --status are two looks: ask for one.")
        }
        if flags.contains("--status") { return flags.contains("--json") ? .statusAsJSON : .status }
        if flags.contains("--json") { throw UsageError(description: "--json goes with --status.") }
        return flags.contains("--dry-run") ? .dryRun : nil
    }

    private static func release(_ version: String) throws(UsageError) -> Release {
        guard let release = Release.all.first(where: { $0.version == version }) else {
            let known = Release.all.map(\.version).joined(separator: ", ")
            throw UsageError(
                description: "There is no release \(version.debugDescription). There are \(known)."
            )
        }
        return release
    }

    private static func check(_ point: String, of release: Release) throws(UsageError) {
        let known = release.history.flatMap(\.points)
        guard !known.contains(point) else { return }
        let list = known.isEmpty ? "none" : known.joined(separator: ", ")
        throw UsageError(
            description: "Notes \(release.version) has no point \(point.debugDescription). It has: \(list)."
        )
    }

    static var helpText: String {
        """
        A small notes app whose data has changed with every release.

        USAGE
          NotesExample
              a tour in a new folder: starts as 1.0, 1.1, 1.4, 2.0, 2.1, 2.2, 3.0, 3.1 and 3.1 again
          NotesExample --data FOLDER --version RELEASE
              one start, on a folder that stays
          NotesExample --data FOLDER --version RELEASE --dry-run
              what that start would run; nothing is changed
          NotesExample --data FOLDER --version RELEASE --status [--json]
              where the data is, and what went wrong, for a support mail; nothing is changed

        OPTIONS
          --data FOLDER       where the notes are; a new or empty folder is filled with the data of 1.0
          --version RELEASE   the app's version: \(Release.all.map(\.version).joined(separator: ", "))
          --kill-at POINT     dies there as a crash would have it; look, and start it again
          --slow              waits at each note of a long step: stop it (Ctrl-C), and start it again
          --help              this text

        POINTS
        \(Release.all.flatMap(\.points).map { "  " + $0 }.joined(separator: "\n"))
        """
    }
}

extension Release {
    /// The points at which a start of this release can die, as `1.1:written`.
    var points: [String] {
        (library + preferences).flatMap { step in step.points.map { "\(step.version):\($0)" } }
    }
}

/// What the person at the command line asks for.
enum Command {
    case help
    case tour
    case start(NotesFolder, Release, killPoint: String?, isSlow: Bool)
    /// Looks at a folder, and changes nothing.
    case look(Look, NotesFolder, Release)

    enum Look { case dryRun, status, statusAsJSON }
}

/// Arguments that make no sense; the app ends with exit code 64, as `sysexits.h` has it.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Command {
    init(parsing arguments: [String]) throws(UsageError) {
        if arguments.contains("--help") || arguments.contains("-h") {
            self = .help
            return
        }
        let given = try Self.read(arguments)
        if given.isEmpty {
            self = .tour
            return
        }
        guard let path = given["--data"], let version = given["--version"] else {
            throw UsageError("--data and --version go together: a folder, and the release to start.")
        }
        guard let release = Release.all.first(where: { $0.version == version }) else {
            let known = Release.all.map(\.version).joined(separator: ", ")
            throw UsageError("There is no release \(version.debugDescription). There are \(known).")
        }
        let folder = NotesFolder(path: path)
        guard let look = try Self.look(given) else {
            if let point = given["--kill-at"] { try Self.check(point, of: release) }
            self = .start(folder, release, killPoint: given["--kill-at"], isSlow: given["--slow"] != nil)
            return
        }
        if let disturbance = ["--kill-at", "--slow"].first(where: { given[$0] != nil }) {
            throw UsageError("\(disturbance) needs a start that runs something, and a look runs nothing.")
        }
        self = .look(look, folder, release)
    }

    private static let options = ["--data", "--version", "--kill-at"]
    private static let flags = ["--dry-run", "--status", "--json", "--slow"]

    /// The options with their values, as `--data FOLDER` or `--data=FOLDER`, and the flags with none.
    private static func read(_ arguments: [String]) throws(UsageError) -> [String: String] {
        var given: [String: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let option = flags.contains(argument) ? argument : String(parts[0])
            var value = ""
            if !flags.contains(argument) {
                guard options.contains(option) else {
                    throw UsageError("Unknown argument \(argument.debugDescription).")
                }
                value = parts.count > 1 ? String(parts[1]) : rest.popFirst() ?? ""
                guard !value.isEmpty, !options.contains(value), !flags.contains(value) else {
                    throw UsageError("\(option) needs a value after it.")
                }
            }
            guard given.updateValue(value, forKey: option) == nil else {
                throw UsageError("\(option) is given twice.")
            }
        }
        return given
    }

    private static func look(_ given: [String: String]) throws(UsageError) -> Look? {
        switch (given["--dry-run"] != nil, given["--status"] != nil, given["--json"] != nil) {
        case (true, true, _): throw UsageError("--dry-run and --status are two looks: ask for one.")
        case (_, false, true): throw UsageError("--json goes with --status.")
        case (true, false, false): return .dryRun
        case (false, true, let isJSON): return isJSON ? .statusAsJSON : .status
        case (false, false, false): return nil
        }
    }

    private static func check(_ point: String, of release: Release) throws(UsageError) {
        let known = release.history.flatMap(\.points)
        guard !known.contains(point) else { return }
        let list = known.isEmpty ? "none" : known.joined(separator: ", ")
        throw UsageError(
            "Notes \(release.version) has no point \(point.debugDescription). It has: \(list)."
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

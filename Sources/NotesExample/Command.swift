/// What the arguments ask for.
enum Command {
    case help
    case tour
    case start(NotesFolder, Release)
    /// Prints something about a folder, and changes nothing.
    case look(Look, NotesFolder, Release)

    enum Look: String, CaseIterable {
        case dryRun = "--dry-run"
        case status = "--status"
        case json = "--json"
    }
}

/// Arguments that can't be used.
///
/// The app ends with exit code 64, `EX_USAGE` of `sysexits.h`.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Command {
    init(parsing arguments: [String]) throws(UsageError) {
        if arguments.contains("--help") {
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
        let looks = Look.allCases.filter { given[$0.rawValue] != nil }
        guard let look = looks.first else {
            self = .start(NotesFolder(path: path), release)
            return
        }
        guard looks.count == 1 else {
            throw UsageError("\(look.rawValue) only looks: ask for no other look beside it.")
        }
        self = .look(look, NotesFolder(path: path), release)
    }

    private static let options = ["--data", "--version"]
    private static let flags = Look.allCases.map(\.rawValue)

    /// The options with their values, and the flags with empty values.
    private static func read(_ arguments: [String]) throws(UsageError) -> [String: String] {
        var given: [String: String] = [:]
        var rest = arguments[...]
        while let name = rest.popFirst() {
            var value = ""
            if options.contains(name) {
                value = rest.popFirst() ?? ""
                guard !value.isEmpty, !value.hasPrefix("--") else {
                    throw UsageError("\(name) needs a value after it.")
                }
            } else if !flags.contains(name) {
                throw UsageError("Unknown argument \(name.debugDescription).")
            }
            guard given.updateValue(value, forKey: name) == nil else {
                throw UsageError("\(name) is given twice.")
            }
        }
        return given
    }

    static var helpText: String {
        """
        A small notes app whose data has changed with every release.

        USAGE
          NotesExample
              a tour in a new folder: starts as 1.0, 1.1, 2.0, 2.1, 3.0, 3.1 and 3.1 again
          NotesExample --data FOLDER --version RELEASE
              one start, on a folder that stays
          NotesExample --data FOLDER --version RELEASE --dry-run
              what that start would run; nothing is changed
          NotesExample --data FOLDER --version RELEASE --status
              where the data is, and what went wrong, for a support mail; nothing is changed

        OPTIONS
          --data FOLDER       where the notes are; a new or empty folder is filled with the data of 1.0
          --version RELEASE   the app's version: \(Release.all.map(\.version).joined(separator: ", "))
          --json              the status as JSON
          --help              this text
        """
    }
}

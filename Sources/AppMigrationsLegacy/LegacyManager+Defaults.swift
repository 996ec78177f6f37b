import AppMigrations
import AppMigrationsSystem
import Foundation

extension LegacyManager {
    /// Where the keys of the old library are.
    public struct Defaults: Sendable, CustomStringConvertible {
        private enum Place {
            case standard
            case suite(String)
            case file(String)
        }

        private let place: Place

        /// The app's own user defaults, which MFMigrationManager and MTMigration use.
        ///
        /// An app extension has its own user defaults, which don't contain these keys.
        ///
        /// On Linux, Foundation keeps them in the file `~/.config/<program>.plist`, or in the folder that
        /// `XDG_CONFIG_HOME` names. This library reads and writes the file itself, as with ``file(at:)``.
        /// Foundation would empty the file before it writes it again, and a process that is killed at that
        /// moment would lose all preferences.
        public static var standard: Defaults { Defaults(place: .standard) }

        /// A suite of the user defaults to which your app has copied the keys, for example the suite of an
        /// app group.
        public static func suite(named name: String) -> Defaults { Defaults(place: .suite(name)) }

        /// A property list in the file at `path`, as `defaults export` writes it.
        ///
        /// Use it in a rehearsal: put the file in the data folder of each starting point. Then it is copied
        /// with the data, and a simulated crash also leaves the keys as they are at that moment.
        ///
        /// A new file is written and renamed, so the file is complete at every moment. Two processes that
        /// write at the same time can lose each other's keys. A file that is damaged or empty is an error.
        /// If the file doesn't exist, there are no keys. The file and its folder are created when the first
        /// key is written.
        public static func file(at path: String) -> Defaults { Defaults(place: .file(path)) }

        /// The place, for messages.
        public var description: String {
            switch place {
            case .standard: "the user defaults"
            case .suite(let name): "the suite \"\(name)\" of the user defaults"
            case .file(let path): "the file \(path)"
            }
        }
    }
}

extension LegacyManager.Defaults {
    /// The values of those keys that exist.
    func values(forKeys keys: [String]) throws(LegacyDefaultsError) -> [String: Any] {
        if let path = try filePath { return try contents(ofFile: path).filter { keys.contains($0.key) } }
        let defaults = try userDefaults
        var values = [String: Any]()
        for key in keys { values[key] = defaults.object(forKey: key) }
        return values
    }

    /// Saves a text as the value of each of the keys.
    func set(_ text: String, forKeys keys: [String]) throws(LegacyDefaultsError) {
        let key = keys.first ?? ""
        if let path = try filePath {
            var contents = try contents(ofFile: path)
            for key in keys { contents[key] = text }
            return try write(contents, ofKey: key, toFile: path)
        }
        let defaults = try userDefaults
        for key in keys { defaults.set(text, forKey: key) }
        // `synchronize` waits until the key is saved, as the old libraries do. Without it, the key could be
        // lost if the process dies now.
        guard defaults.synchronize() else {
            throw .notSaved(key, in: self, reason: "The user defaults could not be written to disk.")
        }
    }

    /// The path of the property list, if this library reads and writes it itself.
    ///
    /// Before it returns, the file has the values that this process has changed with `UserDefaults`.
    private var filePath: String? {
        get throws(LegacyDefaultsError) {
            switch place {
            case .suite: return nil
            case .file(let path): return path
            case .standard:
                #if canImport(Darwin)
                return nil
                #else
                // Values that this process has changed with `UserDefaults` may be in memory only. If there
                // are none, `synchronize` writes nothing.
                if !UserDefaults.standard.synchronize() { throw .unsavedDefaults(in: self) }
                return try preferencesFile
                #endif
            }
        }
    }

    #if !canImport(Darwin)
    /// The path of the file in which Foundation stores `UserDefaults.standard` on this system.
    ///
    /// The file is named after the bundle identifier. Without one, it is named after the executable file. If
    /// the program was started through a link, that is the file to which the link leads.
    private var preferencesFile: String {
        get throws(LegacyDefaultsError) {
            let environment = ProcessInfo.processInfo.environment
            var folder = environment["XDG_CONFIG_HOME"] ?? ""
            // Foundation keeps the preferences in the folder of HOME, even if the password file has another
            // one, which `NSHomeDirectory` then returns. If HOME isn't set, it uses the folder `/`.
            if !folder.hasPrefix("/") { folder = (environment["HOME"] ?? "") + "/.config" }
            if let identifier = Bundle.main.bundleIdentifier { return "\(folder)/\(identifier).plist" }
            do {
                var program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
                // The system adds this if the file was replaced while the process is running.
                if program.hasSuffix(" (deleted)") { program.removeLast(10) }
                return "\(folder)/\(FilePaths.last(program)).plist"
            } catch {
                throw .unreadableFile(in: self, reason: "\(error)", because: error)
            }
        }
    }
    #endif

    private var userDefaults: UserDefaults {
        get throws(LegacyDefaultsError) {
            guard case .suite(let name) = place else { return .standard }
            guard let suite = UserDefaults(suiteName: name) else { throw .unavailableSuite(name) }
            return suite
        }
    }

    private func contents(ofFile path: String) throws(LegacyDefaultsError) -> [String: Any] {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch CocoaError.fileReadNoSuchFile {
            return [:]
        } catch {
            throw .unreadableFile(in: .file(at: path), reason: "\(error)", because: error)
        }
        let list: Any
        do {
            list = try PropertyListSerialization.propertyList(from: data, format: nil)
        } catch {
            throw .unreadableFile(in: .file(at: path), reason: "\(error)", because: error)
        }
        guard let contents = list as? [String: Any] else {
            throw .unreadableFile(in: .file(at: path), reason: "Its top level isn't a dictionary.")
        }
        return contents
    }

    private func write(
        _ contents: [String: Any],
        ofKey key: String,
        toFile path: String
    ) throws(LegacyDefaultsError) {
        do {
            let list = try PropertyListSerialization.data(
                fromPropertyList: contents,
                format: .xml,
                options: 0
            )
            // If the path is a link, replace the file to which it leads.
            let file = try Platform.ignoring([ENOENT], Platform.resolved(path))
            try replaceFile(at: file ?? URL(filePath: path).path(percentEncoded: false), with: list)
        } catch {
            throw .notSaved(key, in: self, reason: "\(error)", because: error)
        }
    }

    /// Writes a new file with the permissions of the old one, and renames it.
    ///
    /// If root does this, the new file gets the owner of the old one, or that of the folder.
    ///
    /// Foundation's `.atomic` doesn't keep the permissions on Linux. But a preferences file may be private.
    /// The new file has a unique name, because two processes may write at the same time.
    private func replaceFile(at path: String, with data: Data) throws {
        let folder = FilePaths.parent(path)
        // "If … the destination directory is non-existant an attempt should be made to create it with
        // permission 0700" (XDG Base Directory Specification).
        try Platform.makeDirectories(folder)
        let new = "\(path).\(UUID().uuidString)"
        let descriptor = try Platform.createExclusively(new)
        defer { Platform.closeAfterReading(descriptor) }
        do {
            // Without `.atomic`, Foundation writes to the file that was just created.
            try data.write(to: URL(filePath: new))
            try Platform.giveOwnership(of: descriptor, toOwnerOf: folder, replacing: path)
            if let old = try Platform.ignoring([ENOENT], FileStatus(ofEntry: path)) {
                try Platform.setPermissions(ofNew: descriptor, old.permissions)
            }
            try Platform.synchronize(new)
            try Platform.replace(path, with: new)
            try Platform.synchronize(folder)
        } catch {
            // An error of this call is ignored, because the first error is reported.
            _ = unlink(new)
            throw error
        }
    }
}

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
        /// An app extension has its own user defaults, which don't contain these keys. For a program on
        /// Linux, use ``file(at:)``, which gives the reason.
        public static var standard: Defaults { Defaults(place: .standard) }

        /// A suite of the user defaults to which your app has copied the keys, for example the suite of an
        /// app group.
        public static func suite(named name: String) -> Defaults { Defaults(place: .suite(name)) }

        /// A property list in the file at `path`, as `defaults export` writes it.
        ///
        /// Use it in two situations:
        /// - For a program on Linux, pass the preferences file itself, which is `.config/<program>.plist` in
        ///   the home folder. Foundation on Linux empties this file before it writes it again. So if the
        ///   process is killed at that moment, ``standard`` can lose all preferences. With `file(at:)`, a new
        ///   file is written and renamed, so that can't happen. Two processes that write at the same time
        ///   can still lose each other's keys. A damaged file is an error. With ``standard``, it looks like a
        ///   file without keys.
        /// - In a rehearsal, put the file in the data folder of each starting point. Then it is copied with
        ///   the data, and a simulated crash also leaves the keys as they are at that moment.
        ///
        /// If the file doesn't exist, there are no keys. The file is created when the first key is written,
        /// but its folder must exist.
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
    func value(forKey key: String) throws(LegacyDefaultsError) -> Any? {
        if case .file(let path) = place { return try contents(ofFile: path)[key] }
        return try userDefaults.object(forKey: key)
    }

    func set(_ text: String, forKey key: String) throws(LegacyDefaultsError) {
        if case .file(let path) = place {
            var contents = try contents(ofFile: path)
            contents[key] = text
            return try write(contents, ofKey: key, toFile: path)
        }
        let defaults = try userDefaults
        defaults.set(text, forKey: key)
        // `synchronize` waits until the key is saved, as the old libraries do. Without it, the key could be
        // lost if the process dies now.
        guard defaults.synchronize() else {
            throw .notSaved(key, in: self, reason: "The user defaults could not be written to disk.")
        }
    }

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
            throw .unreadableFile(in: self, reason: "\(error)", because: error)
        }
        let list: Any
        do {
            list = try PropertyListSerialization.propertyList(from: data, format: nil)
        } catch {
            throw .unreadableFile(in: self, reason: "\(error)", because: error)
        }
        guard let contents = list as? [String: Any] else {
            throw .unreadableFile(in: self, reason: "Its top level isn't a dictionary.")
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
            try replaceFile(at: Platform.ignoring([ENOENT], Platform.resolved(path)) ?? path, with: list)
        } catch {
            throw .notSaved(key, in: self, reason: "\(error)", because: error)
        }
    }

    /// Writes a new file with the owner and the permissions of the old one, and renames it.
    ///
    /// Foundation's `.atomic` doesn't keep the permissions on Linux. But a preferences file may be private.
    /// The new file has a unique name, because two processes may write at the same time.
    private func replaceFile(at path: String, with data: Data) throws {
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
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

#if canImport(Darwin)
public import Foundation

/// The app's bundle on Apple's platforms, and what a `URL` of Foundation means to a manager.
///
/// This is the only file in the core that imports Foundation.
enum AppBundle {
    static var version: String? {
        Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
    }

    static var stateDirectory: String? {
        guard
            let support = NSSearchPathForDirectoriesInDomains(
                .applicationSupportDirectory,
                .userDomainMask,
                true
            ).first,
            let identifier = Bundle.main.bundleIdentifier
        else { return nil }
        return "\(support)/\(identifier)/Migrations"
    }

    /// The path of a file URL.
    ///
    /// Of another URL it is the whole text, which is refused because it is no absolute path.
    static func path(of url: URL) -> String {
        url.isFileURL ? url.path(percentEncoded: false) : url.absoluteString
    }
}

extension MigrationManager {
    /// Reads the state of the subsystem `name`, or creates it on the first run, with the state directory as a
    /// `URL`.
    ///
    /// This is the initializer with a path, for apps on Apple's systems, which get the URL of a folder from
    /// `FileManager`.
    ///
    /// - Parameters:
    ///   - name: The name of the subsystem, which becomes a part of file names.
    ///   - currentVersion: The app's version. If it is `nil`, `CFBundleShortVersionString` of the main bundle
    ///     is used.
    ///   - firstRun: Says which data already exists if there is no state.
    ///   - stateDirectory: The file URL of the folder for the state. It is created if it doesn't exist.
    ///     Choose a folder that stays the same in all later releases.
    ///   - options: How long to wait for the lock, how often to try, the oldest version to upgrade from,
    ///     whether the manager is read-only, and the handler of events.
    /// - Throws: ``MigrationError`` with the codes of the initializer with a path. A URL that is no file URL
    ///   throws `unusableDirectory`.
    public convenience init(
        named name: String = "default",
        currentVersion: String? = nil,
        firstRun: @autoclosure () throws -> FirstRun = .freshInstall,
        stateDirectory: URL,
        options: Options = Options()
    ) throws(MigrationError) {
        try self.init(
            named: name,
            currentVersion: currentVersion,
            firstRun: try firstRun(),
            stateDirectory: AppBundle.path(of: stateDirectory),
            options: options
        )
    }

    /// Moves the state file in the folder of a `URL` to another name.
    ///
    /// This is the function with a path, for apps on Apple's systems.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The file URL of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` if there is no limit.
    /// - Returns: The path to which the state was moved, `<name>.migrations.forgotten-<time>` in the same
    ///   folder; `nil` if there was no state.
    /// - Throws: ``MigrationError`` with the codes of the function with a path. A URL that is no file URL
    ///   throws `unusableDirectory`.
    public static func forgetState(
        named name: String = "default",
        stateDirectory: URL,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        let path = AppBundle.path(of: stateDirectory)
        return try forgetState(named: name, stateDirectory: path, lockTimeout: lockTimeout)
    }
}

extension MigrationError: LocalizedError {
    /// The ``description`` of the error, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif

#if canImport(Darwin)
public import Foundation

/// The app as Apple's systems know it: the only file that needs Foundation.
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
}

extension MigrationError: LocalizedError {
    /// The text of ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif

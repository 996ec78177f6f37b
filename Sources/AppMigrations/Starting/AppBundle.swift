#if canImport(Darwin)
public import Foundation

/// What Apple's systems know of the app: the only file that needs Foundation.
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
    /// The same text as ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif

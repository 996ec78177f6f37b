#if canImport(Darwin)
public import Foundation

/// The app's bundle on Apple's platforms.
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
}

extension MigrationError: LocalizedError {
    /// The ``description`` of the error, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif

import AppMigrations
import Foundation

/// Where a user comes from: a version, and a way to make the data that it left.
public struct StartingPoint: Sendable {
    enum Kind: Sendable, Equatable {
        case version(String)
        case freshInstall
        case nothing
    }

    let kind: Kind
    let make: @Sendable (_ folder: String) throws -> Void

    /// Data as `version` left it, copied from a folder that is kept with the tests.
    public static func version(_ version: String, copying folder: String) -> StartingPoint {
        StartingPoint(kind: .version(version)) { try FolderFiles.copyContents(of: folder, to: $0) }
    }

    /// Data as `version` left it, made by a closure in an empty folder.
    ///
    /// It is called once, and every run begins with a copy of what it made.
    public static func version(
        _ version: String,
        making data: @escaping @Sendable (_ folder: String) throws -> Void
    ) -> StartingPoint {
        StartingPoint(kind: .version(version), make: data)
    }

    /// The data that the current version makes where there is none.
    ///
    /// No migration runs on it, and the upgrades have to end with the same data.
    public static func freshInstall(
        making data: @escaping @Sendable (_ folder: String) throws -> Void
    ) -> StartingPoint {
        StartingPoint(kind: .freshInstall, make: data)
    }

    /// An empty folder, of a subsystem that builds itself through its migrations: all of them run.
    public static var everything: StartingPoint { StartingPoint(kind: .nothing) { _ in } }

    /// What the table calls it.
    var title: String {
        switch kind {
        case .version(let version): version
        case .freshInstall: "fresh install"
        case .nothing: "everything"
        }
    }

    /// The same in a sentence.
    var origin: String {
        switch kind {
        case .version(let version): "From \(version)"
        case .freshInstall: "With a fresh install"
        case .nothing: "From an empty folder"
        }
    }

    var firstRun: MigrationManager.FirstRun {
        switch kind {
        case .version(let version): .existingData(at: version)
        case .freshInstall: .freshInstall
        case .nothing: .everything
        }
    }

    /// The version that the data is at; `nil` where everything runs.
    func version(current: AppVersion) throws(MigrationError) -> AppVersion? {
        switch kind {
        case .version(let version): try AppVersion(parsing: version)
        case .freshInstall: current
        case .nothing: nil
        }
    }

    /// Whether it was left by a release that has this library, which the release `adoption` was the first to have.
    func hasState(since adoption: AppVersion, at version: AppVersion?) -> Bool {
        guard case .version = kind, let version else { return false }
        return version >= adoption
    }
}

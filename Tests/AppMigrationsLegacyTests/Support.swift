import AppMigrations
import AppMigrationsLegacy
import Foundation
import TestSupport

/// An error of the app's own.
struct Failure: Error, CustomStringConvertible {
    var description: String { "There isn't enough space." }
}

let lastKey = "MFMigrationManagerLastVersionKey-Library"
let initialKey = "MFMigrationManagerInitialVersionKey-Library"

extension TemporaryDirectory {
    /// The keys of the old library.
    var defaults: LegacyManager.Defaults { .file(at: file("defaults.plist")) }

    func writeKeys(_ keys: [String: any Sendable]) throws {
        try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
            .write(to: URL(filePath: file("defaults.plist")))
    }

    /// The values of the keys, as text.
    var keys: [String: String] {
        get throws {
            guard exists("defaults.plist") else { return [:] }
            let data = try Data(contentsOf: URL(filePath: file("defaults.plist")))
            let list = try PropertyListSerialization.propertyList(from: data, format: nil)
            return (list as? [String: Any] ?? [:]).mapValues { "\($0)" }
        }
    }

    /// Makes a link in place of a folder: no file can be found or created in it.
    func makeLinkToNowhere(_ name: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: "nowhere")
    }

    func old(
        _ library: LegacyManager.Library = .mfMigrationManager(named: "Library"),
        lastRelease: String = "3.5",
        resolving resolve: @escaping @Sendable (String) throws -> String? = { _ in nil }
    ) throws -> LegacyManager {
        try LegacyManager(of: library, lastRelease: lastRelease, in: defaults, resolvingVersion: resolve)
    }

    /// A manager of release 4.0, which continues from the keys.
    func manager(
        _ old: LegacyManager? = nil,
        firstRun: MigrationManager.FirstRun? = nil,
        options: MigrationManager.Options = .init()
    ) throws -> MigrationManager {
        let old = try old ?? self.old()
        return try MigrationManager(
            named: "Library",
            currentVersion: "4.0",
            firstRun: firstRun ?? old.firstRun(isUnlocked: true),
            stateDirectory: file("state"),
            options: options
        )
    }
}

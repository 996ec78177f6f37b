extension LegacyManager {
    /// The library that older releases of the app used for their migrations.
    public struct Library: Sendable, Hashable {
        /// The key for the version of the last migration.
        ///
        /// Every release of the library reads and writes it.
        let lastRunKey: String

        /// The keys for the version of the last migration in early versions of the library.
        var otherLastRunKeys: [String] = []

        /// The key for the version of the app that was installed first; `nil` if the library has no such key.
        var initialKey: String?

        /// The keys for the version of the app that was launched last.
        ///
        /// If only these keys exist, the library was used, but no migration has ever succeeded.
        var launchKeys: [String] = []

        /// All keys whose value is a version up to which all migrations have run.
        var versionKeys: [String] { [lastRunKey] + otherLastRunKeys + [initialKey].compactMap(\.self) }

        /// MFMigrationManager, with the name that was passed to `initWithName:`; `nil` if none was.
        public static func mfMigrationManager(named name: String? = nil) -> Library {
            let suffix = name.map { "-\($0)" } ?? ""
            return Library(
                lastRunKey: "MFMigrationManagerLastVersionKey\(suffix)",
                // Before version 1.0, a manager without a name formatted its missing name into the key. So
                // the key ends with "(null)".
                otherLastRunKeys: name == nil ? ["MFMigrationManagerLastVersionKey-(null)"] : [],
                initialKey: "MFMigrationManagerInitialVersionKey\(suffix)"
            )
        }

        /// MTMigration in Objective-C, for apps that used `migrateToVersion:block:`.
        public static var mtMigration: Library {
            Library(
                lastRunKey: "MTMigration.lastMigrationVersion",
                launchKeys: ["MTMigration.lastAppVersion"]
            )
        }

        /// MTMigration in Objective-C, for apps that used `migrateToBuild:block:`.
        ///
        /// Pass the build number as `currentVersion:` of the new `MigrationManager`. Pass the build number
        /// of the last release with the old library as `lastRelease:`.
        public static var mtMigrationBuilds: Library {
            Library(lastRunKey: "MTMigration.lastMigrationBuild", launchKeys: ["MTMigration.lastAppBuild"])
        }

        /// MTMigrationSwift, for apps that used `migrateToVersion(_:closure:)`.
        public static var mtMigrationSwift: Library {
            Library(lastRunKey: "Migration.lastMigrationVersion", launchKeys: ["Migration.lastAppVersion"])
        }

        /// MTMigrationSwift, for apps that used `migrateToBuild(_:closure:)`.
        ///
        /// Pass the build number as `currentVersion:` of the new `MigrationManager`. Pass the build number
        /// of the last release with the old library as `lastRelease:`.
        public static var mtMigrationSwiftBuilds: Library {
            Library(lastRunKey: "Migration.lastMigrationBuild", launchKeys: ["Migration.lastAppBuild"])
        }
    }
}

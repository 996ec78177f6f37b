extension LegacyManager {
    /// The library that older releases of the app used for their migrations.
    public struct Library: Sendable, Hashable {
        /// The key of the last migration, which every release of the library reads and writes.
        let lastRunKey: String

        /// Keys of the last migration in early versions of the library.
        var otherLastRunKeys: [String] = []

        /// The key of the release that was installed first, if the library had one.
        var initialKey: String?

        /// The keys of the release that was launched last.
        ///
        /// They exist without a key of the last migration if no migration has ever succeeded.
        var launchKeys: [String] = []

        /// All keys that hold a version up to which everything has run.
        var versionKeys: [String] { [lastRunKey] + otherLastRunKeys + [initialKey].compactMap(\.self) }

        /// MFMigrationManager, with the name that was passed to `initWithName:`; `nil` if none was.
        public static func mfMigrationManager(named name: String? = nil) -> Library {
            let suffix = name.map { "-\($0)" } ?? ""
            return Library(
                lastRunKey: "MFMigrationManagerLastVersionKey\(suffix)",
                // Before version 1.0, a manager without a name had the text of a missing object for a name.
                otherLastRunKeys: name == nil ? ["MFMigrationManagerLastVersionKey-(null)"] : [],
                initialKey: "MFMigrationManagerInitialVersionKey\(suffix)"
            )
        }

        /// MTMigration in Objective-C, and its `migrateToVersion:block:`.
        public static var mtMigration: Library {
            Library(
                lastRunKey: "MTMigration.lastMigrationVersion",
                launchKeys: ["MTMigration.lastAppVersion"]
            )
        }

        /// MTMigration in Objective-C, and its `migrateToBuild:block:`.
        ///
        /// Pass the build number as the `currentVersion:` of the manager that continues, and the build of the
        /// last release as `lastRelease:`.
        public static var mtMigrationBuilds: Library {
            Library(lastRunKey: "MTMigration.lastMigrationBuild", launchKeys: ["MTMigration.lastAppBuild"])
        }

        /// MTMigrationSwift, and its `migrateToVersion(_:closure:)`.
        public static var mtMigrationSwift: Library {
            Library(lastRunKey: "Migration.lastMigrationVersion", launchKeys: ["Migration.lastAppVersion"])
        }

        /// MTMigrationSwift, and its `migrateToBuild(_:closure:)`.
        ///
        /// Pass the build number as the `currentVersion:` of the manager that continues, and the build of the
        /// last release as `lastRelease:`.
        public static var mtMigrationSwiftBuilds: Library {
            Library(lastRunKey: "Migration.lastMigrationBuild", launchKeys: ["Migration.lastAppBuild"])
        }
    }
}

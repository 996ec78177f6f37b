public import Foundation

/// A problem that a rehearsal or an SQL rehearsal found.
public struct RehearsalFinding: Error, Sendable, CustomStringConvertible {
    /// The kind of finding.
    ///
    /// Later releases may add kinds, so a `switch` needs a `default`.
    public let kind: Kind

    /// The version of the migration, if the finding is about one.
    public let version: String?

    /// The path in the data folder that differs, for kinds that compare data.
    public let path: String?

    /// For a run of SQL migrations: the release whose recorded schema the run began with.
    public let release: String?

    /// The finding in words: what happened, in which run, and what to do.
    public let description: String

    init(
        _ kind: Kind,
        version: (any CustomStringConvertible)? = nil,
        path: String? = nil,
        release: String? = nil,
        _ description: String
    ) {
        self.kind = kind
        self.version = version?.description
        self.path = path
        self.release = release
        self.description = description
    }

    /// The kinds of ``RehearsalFinding``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// An undisturbed run ended with an error, or the declarations threw before any closure could run.
        public static var failed: Kind { Kind("failed") }

        /// Upgrading release by release gives different data from upgrading in one jump.
        public static var stepsDiffer: Kind { Kind("stepsDiffer") }

        /// Two starting points don't end with the same data.
        public static var startsDiffer: Kind { Kind("startsDiffer") }

        /// An upgrade ends with different data from a fresh install.
        ///
        /// Perhaps a migration is missing.
        public static var freshInstallDiffers: Kind { Kind("freshInstallDiffers") }

        /// A closure was run again after it had returned, or after it had called `synchronize`.
        ///
        /// The second run failed or changed the resulting data.
        public static var notRepeatable: Kind { Kind("notRepeatable") }

        /// A closure was interrupted, and continued from a checkpoint or after a batch.
        ///
        /// Then it failed, or the resulting data differs.
        public static var notContinued: Kind { Kind("notContinued") }

        /// A release below the `minimumAppVersion:` of a migration changed data on which that migration had
        /// already run.
        public static var olderReleaseWrites: Kind { Kind("olderReleaseWrites") }

        /// A release that a user went back to wrote between two migrations of an upgrade.
        ///
        /// The data ends differently than if that release had written before the first migration.
        public static var writtenBetween: Kind { Kind("writtenBetween") }

        /// A closure with `replacing:` changed the original, and not only its copy.
        public static var originalChanged: Kind { Kind("originalChanged") }

        /// After a crash outside a closure, the next start failed or ended with different data.
        public static var notCompleted: Kind { Kind("notCompleted") }

        /// A declared version can't be read.
        public static var invalidVersion: Kind { Kind("invalidVersion") }

        /// A version is declared after a newer one.
        public static var outOfOrder: Kind { Kind("outOfOrder") }

        /// A version is declared twice, even if it is written differently, such as `1.1` and `1.1.0`.
        public static var declaredTwice: Kind { Kind("declaredTwice") }

        /// A migration is newer than the app.
        public static var newerThanCurrentVersion: Kind { Kind("newerThanCurrentVersion") }

        /// A version that an earlier rehearsal recorded isn't declared any more.
        public static var disappeared: Kind { Kind("disappeared") }

        /// A new version is lower than one that was recorded earlier.
        ///
        /// Users who already have the higher version will never run it. An SQL migration runs for them, but
        /// in another order than in a new database.
        public static var missed: Kind { Kind("missed") }

        /// The app's `firstRun:` returns a version above that of the data, so some migrations would never
        /// run.
        public static var firstRunSkips: Kind { Kind("firstRunSkips") }

        /// The app's `firstRun:` returns a version below that of the data, and the migrations that run again
        /// fail or change the resulting data; or migrations would run on a fresh install.
        public static var firstRunRepeats: Kind { Kind("firstRunRepeats") }

        /// No closure was run, because no starting point has data below a declared version; for SQL
        /// migrations, no release is recorded.
        public static var notRehearsed: Kind { Kind("notRehearsed") }

        /// The text of an SQL migration was edited after its release.
        public static var changed: Kind { Kind("changed") }

        /// A line of the lock file can't be read.
        public static var unreadableLock: Kind { Kind("unreadableLock") }

        /// A release already has a different record.
        public static var recordedOtherwise: Kind { Kind("recordedOtherwise") }
    }
}

extension RehearsalFinding: LocalizedError {
    /// The text of ``description``, which XCTest shows for an error that a test throws.
    public var errorDescription: String? { description }
}

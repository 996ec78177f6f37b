public import Foundation

/// A finding of a rehearsal or of an SQL rehearsal, in plain words.
public struct RehearsalFinding: Error, Sendable, CustomStringConvertible {
    /// The kind of finding.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The version of the migration concerned, where there is one.
    public let version: String?

    /// The path in the data folder that differs; with kinds that compare data.
    public let path: String?

    /// The release from whose schema a run of SQL migrations began, where it is about one.
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

        /// A run that nothing disturbed ended with an error, or the declarations did before any closure could run.
        public static var failed: Kind { Kind("failed") }

        /// Release by release, the data doesn't end as it does in one jump.
        public static var stepsDiffer: Kind { Kind("stepsDiffer") }

        /// Two starting points don't end with the same data.
        public static var startsDiffer: Kind { Kind("startsDiffer") }

        /// An upgrade doesn't end with the data of a fresh install: a migration may be forgotten.
        public static var freshInstallDiffers: Kind { Kind("freshInstallDiffers") }

        /// A closure that ran a second time, after it had returned or synchronized, failed or changed what the data becomes.
        public static var notRepeatable: Kind { Kind("notRepeatable") }

        /// A closure that was begun again at a checkpoint or between batches failed, or changed what the data becomes.
        public static var notContinued: Kind { Kind("notContinued") }

        /// A release below the `minimumAppVersion:` of a migration changed the data after it.
        public static var olderReleaseWrites: Kind { Kind("olderReleaseWrites") }

        /// After a death outside a closure the next start failed or ended with other data.
        public static var notCompleted: Kind { Kind("notCompleted") }

        /// A declared version can't be read.
        public static var invalidVersion: Kind { Kind("invalidVersion") }

        /// A version is declared after a newer one.
        public static var outOfOrder: Kind { Kind("outOfOrder") }

        /// A version is declared twice, also as `1.1` and `1.1.0`.
        public static var declaredTwice: Kind { Kind("declaredTwice") }

        /// A migration is newer than the app.
        public static var newerThanCurrentVersion: Kind { Kind("newerThanCurrentVersion") }

        /// A version of an earlier rehearsal isn't declared any more.
        public static var disappeared: Kind { Kind("disappeared") }

        /// A new version lies below one of an earlier rehearsal: users at the later version never run it.
        public static var missed: Kind { Kind("missed") }

        /// The app's `firstRun:` answers a version above the one that the data is at: migrations would never run there.
        public static var firstRunSkips: Kind { Kind("firstRunSkips") }

        /// The app's `firstRun:` answers a version below the one that the data is at, and the migrations that run again fail or
        /// change what the data becomes; or migrations would run on a fresh install.
        public static var firstRunRepeats: Kind { Kind("firstRunRepeats") }

        /// No closure was run, since no starting point has data below a declared version; of SQL migrations, no release is
        /// recorded.
        public static var notRehearsed: Kind { Kind("notRehearsed") }

        /// A released SQL migration has another text than when it was released.
        public static var changed: Kind { Kind("changed") }

        /// A line of the lock file can't be read.
        public static var unreadableLock: Kind { Kind("unreadableLock") }

        /// A release is to be recorded that has another record.
        public static var recordedOtherwise: Kind { Kind("recordedOtherwise") }
    }
}

extension RehearsalFinding: LocalizedError {
    /// The text of ``description``, which XCTest shows for an error that a test throws.
    public var errorDescription: String? { description }
}

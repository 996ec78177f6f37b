public import Foundation

/// Something that a rehearsal of SQL migrations found: what is wrong, with which migration or release, in plain words.
public struct SQLRehearsalFinding: Error, Sendable, CustomStringConvertible {
    /// What was found.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The migration concerned, where there is one.
    public let version: Int64?

    /// The release from whose schema the run began, where it is about a run.
    public let release: String?

    /// What happened, and what to do.
    public let description: String

    init(_ kind: Kind, version: Int64? = nil, release: String? = nil, _ description: String) {
        self.kind = kind
        self.version = version
        self.release = release
        self.description = description
    }

    /// The kinds of ``SQLRehearsalFinding``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// A migration failed on the schema of a release or in a new database, or the recorded schema could not be made.
        public static var failed: Kind { Kind("failed") }

        /// The schema of a release doesn't become that of a new database: a migration was changed, or the release has a table
        /// that no migration made.
        public static var startsDiffer: Kind { Kind("startsDiffer") }

        /// A released migration has another text than when it was released.
        public static var edited: Kind { Kind("edited") }

        /// A released migration isn't there any more.
        public static var disappeared: Kind { Kind("disappeared") }

        /// A new migration lies below one that was released.
        public static var missed: Kind { Kind("missed") }

        /// No release is recorded, or the lock file is missing.
        public static var notRehearsed: Kind { Kind("notRehearsed") }

        /// A line of the lock file can't be read.
        public static var unreadableLock: Kind { Kind("unreadableLock") }

        /// A release is to be recorded that has another record.
        public static var recordedOtherwise: Kind { Kind("recordedOtherwise") }
    }
}

extension SQLRehearsalFinding: LocalizedError {
    /// The same text as ``description``, which XCTest shows for an error that a test throws.
    public var errorDescription: String? { description }
}

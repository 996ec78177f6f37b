/// Why a migration, a manager or a version was refused, and what to do next.
///
/// ``description`` says what happened, in which manager, file and version, what was not changed, and the way out.
/// Decide by ``code``; show or log the description.
///
/// On Apple's systems `localizedDescription` is the same text. Elsewhere it says nothing, since Foundation asks a protocol
/// of its own and this library does without Foundation there: show `"\(error)"`.
public final class MigrationError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let code: Code

    /// The name of the manager, or `nil` for an error of a version's text.
    public let managerName: String?

    /// The version of the migration concerned, where there is one.
    public let version: AppVersion?

    /// The file or folder concerned, where there is one.
    public let path: String?

    /// The error behind this one: what the app's own code threw, the failure that closed the manager, or a `SystemCallError`.
    public let underlyingError: (any Error)?

    /// The whole text: what happened, where, what was not changed, and what to do.
    public let description: String

    package init(
        _ code: Code,
        manager: String? = nil,
        version: AppVersion? = nil,
        path: String? = nil,
        underlying: (any Error)? = nil,
        _ message: Message
    ) {
        (self.code, managerName, self.version, self.path) = (code, manager, version, path)
        (underlyingError, description) = (underlying, message.description)
    }
}

extension MigrationError {
    /// The kinds of error that a start or a migration ends with; the sentence stands where one is thrown, with `StateLocation.error`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// A version's text can't be read.
        ///
        /// It was not run; what was declared before it has its own outcome.
        public static var invalidVersion: Code { Code("invalidVersion") }

        /// No `currentVersion:` was given and the main bundle has no version.
        public static var unknownCurrentVersion: Code { Code("unknownCurrentVersion") }

        /// The manager's name isn't made of 1 to 200 of `A-Z a-z 0-9 . _ -`, or begins with a dot.
        public static var invalidName: Code { Code("invalidName") }

        /// A version above the app's own was declared or given.
        public static var newerThanCurrentVersion: Code { Code("newerThanCurrentVersion") }

        /// A version was declared that doesn't lie after the one declared before it, or a `minimumAppVersion:` above its own
        /// migration.
        public static var declaredOutOfOrder: Code { Code("declaredOutOfOrder") }

        /// An earlier call of the manager threw, its state was forgotten or set back, or it was handed out for a plan that is over.
        public static var managerClosed: Code { Code("managerClosed") }

        /// A newer version of the app was started on the same data after the manager was made, or a mark was to be set under a
        /// ``MigrationManager/requiredAppVersion``.
        ///
        /// The data is that version's: a new manager's ``MigrationManager/launch-property`` is `downgrade(from:)`.
        public static var usedByNewerApp: Code { Code("usedByNewerApp") }

        /// The data is older than `upgradesFrom`: this app no longer has all the migrations that it needs.
        ///
        /// Nothing was run. A release that still has them upgrades it first.
        public static var tooOld: Code { Code("tooOld") }

        /// Something is pending, or was to be changed, through a manager that only looks.
        ///
        /// Nothing was changed. A manager without `isReadOnly` does it.
        public static var readOnly: Code { Code("readOnly") }

        /// A closure of a manager used a manager with the same state, or one declaration of a manager another.
        ///
        /// A second declaration while one of the same manager is under way closes nothing. One in a detached task or a thread waits.
        public static var nested: Code { Code("nested") }

        /// The closure threw; ``MigrationError/underlyingError`` is its error.
        public static var migrationFailed: Code { Code("migrationFailed") }

        /// The closure threw `CancellationError` or an error with this code, or the task was cancelled before the closure began, or
        /// found itself cancelled at a checkpoint.
        public static var cancelled: Code { Code("cancelled") }

        /// The host that ran the closure could not renew its lease, or another host took over.
        ///
        /// Nothing was recorded. The closure's task was cancelled; what it did until then stays, and another host runs the
        /// migration again.
        public static var leaseLost: Code { Code("leaseLost") }

        /// As many processes died in this migration as the options allow.
        public static var attemptLimitReached: Code { Code("attemptLimitReached") }

        /// Another process held the lock for longer than the options allow.
        public static var lockTimeout: Code { Code("lockTimeout") }

        /// There is no folder for the state that every start finds again, or none was named and there is no default.
        ///
        /// Nothing was run. It stays so until the app names another one.
        public static var unusableDirectory: Code { Code("unusableDirectory") }

        /// The state could not be read, or is gone since the manager was made: make another one later.
        public static var stateUnreadable: Code { Code("stateUnreadable") }

        /// The state file is not what this library writes.
        public static var stateCorrupted: Code { Code("stateCorrupted") }

        /// The state file was written by a newer release of this library.
        public static var stateFromNewerFormat: Code { Code("stateFromNewerFormat") }

        /// The state could not be saved or removed, its lock not be taken or kept, or a closure's work not be synced to disk.
        public static var stateNotSaved: Code { Code("stateNotSaved") }

        /// A checkpoint could not be saved, or none was saved that can be read as the type asked for.
        public static var checkpointNotSaved: Code { Code("checkpointNotSaved") }

        /// The protected files could not be copied, or not be put back.
        public static var protectionFailed: Code { Code("protectionFailed") }

        /// The `firstRun:` expression threw; ``MigrationError/underlyingError`` is its error.
        public static var firstRunFailed: Code { Code("firstRunFailed") }
    }
}

extension AppVersion {
    /// Reads a version such as `1.4` or `1.1-2`.
    ///
    /// - Parameter text: One or more components of ASCII digits divided by dots, then at most one hyphen and
    ///   sub-number. Nothing else: no spaces, no `v`, no `-beta`, no `+5`.
    /// - Throws: ``MigrationError`` with the code ``MigrationError/Code/invalidVersion``, which says what is
    ///   wrong, at which character, and what the grammar is.
    public init(parsing text: some StringProtocol) throws(MigrationError) {
        try self.init(String(text)) { MigrationError(.invalidVersion, $0) }
    }

    package init(_ text: String, manager: String) throws(MigrationError) {
        try self.init(text) { problem in
            let end: Message = "Nothing was run by manager \(manager.quoted)."
            return MigrationError(.invalidVersion, manager: manager, "\(problem) \(end)")
        }
    }

    /// Reads a version; `refusal` makes an error of the mistake in its text, and of the grammar.
    @inline(never)
    init(_ text: String, _ refusal: (Message) -> MigrationError) throws(MigrationError) {
        var reader = VersionReader()
        if let problem = reader.read(text) { throw refusal(problem) }
        self = reader.version()
    }
}

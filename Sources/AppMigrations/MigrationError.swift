/// Why a migration, a manager or a version was refused, and what to do next.
///
/// ``description`` says what happened, in which manager, file and version, what was not changed, and the way out.
/// Decide by ``code``; show or log the description.
///
/// On Apple's systems `localizedDescription` is the same text. Elsewhere it says nothing, since Foundation asks a protocol
/// of its own and this library does without Foundation there: show `"\(error)"`.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// The facts of an error, behind one reference: each call of this library that can throw returns room for an error.
    private final class Facts: Sendable {
        let code: Code
        let managerName: String?
        let version: AppVersion?
        let path: String?
        let underlyingError: (any Error)?
        let isTransient: Bool
        let description: String

        init(
            code: Code,
            managerName: String?,
            version: AppVersion?,
            path: String?,
            underlyingError: (any Error)?,
            isTransient: Bool,
            description: String
        ) {
            self.code = code
            self.managerName = managerName
            self.version = version
            self.path = path
            self.underlyingError = underlyingError
            self.isTransient = isTransient
            self.description = description
        }
    }

    private let facts: Facts

    /// Makes an error for the preview or the test of a screen that shows one.
    ///
    /// <doc:ShowingStatus> has an example.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - managerName: The name of the manager.
    ///   - version: The version of the migration concerned.
    ///   - path: The file or folder concerned.
    ///   - underlyingError: The error behind this one, such as the closure's own with the code `migrationFailed`.
    ///   - isTransient: True if the same call may succeed later without anyone doing anything.
    ///   - description: The whole text; `nil` takes the name of the code.
    public init(
        code: Code,
        managerName: String? = nil,
        version: AppVersion? = nil,
        path: String? = nil,
        underlyingError: (any Error)? = nil,
        isTransient: Bool = false,
        description: String? = nil
    ) {
        facts = Facts(
            code: code,
            managerName: managerName,
            version: version,
            path: path,
            underlyingError: underlyingError,
            isTransient: isTransient,
            description: description ?? code.description
        )
    }

    /// The kind of error.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public var code: Code { facts.code }

    /// The name of the manager, or `nil` for an error of a version's text.
    public var managerName: String? { facts.managerName }

    /// The version of the migration concerned, if there is one.
    public var version: AppVersion? { facts.version }

    /// The file or folder concerned, if there is one.
    public var path: String? { facts.path }

    /// The error behind this one: what the app's own code threw, the failure that closed the manager, or a `SystemCallError`.
    public var underlyingError: (any Error)? { facts.underlyingError }

    /// True if the same call, through a new manager, may succeed later without anyone doing anything.
    ///
    /// So it is worth trying again after a while. It is true for ``Code/lockTimeout``, for a state that the system denies because the
    /// device wasn't unlocked since it was started, and for a migration whose protected files another manager's running migration
    /// protects too. It is false for everything that a person or a new release has to put right, for
    /// ``Code/usedByNewerApp``, and for the error of a closure.
    public var isTransient: Bool { facts.isTransient }

    /// The whole text: what happened, where, what was not changed, and what to do.
    public var description: String { facts.description }

    package init(
        _ code: Code,
        manager: String? = nil,
        version: AppVersion? = nil,
        path: String? = nil,
        underlying: (any Error)? = nil,
        isTransient: Bool = false,
        _ message: Message
    ) {
        self.init(
            code: code,
            managerName: manager,
            version: version,
            path: path,
            underlyingError: underlying,
            isTransient: isTransient,
            description: message.description
        )
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

        /// A newer version of the app has begun to change the data beyond this one, and the version declared had not run before; or
        /// a mark was to be set under a ``MigrationManager/requiredAppVersion``.
        ///
        /// Nothing was run. The newer version goes on. The text names the other ways out. A newer version that was only started
        /// is no such error: it has changed nothing.
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

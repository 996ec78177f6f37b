/// Why a migration, a manager or a version was refused, and what to do next.
///
/// ``description`` says what happened; in which manager, file and version; what this call left as it was; and
/// what to do next. It doesn't say what earlier calls did: if a call of `whenMigrating` throws, the
/// migrations that ran before it stay recorded. Switch on ``code``, and show or log the description.
///
/// On Apple's systems, `localizedDescription` is the same text. On other systems `localizedDescription` is
/// only a generic text: the real text would need Foundation's `LocalizedError`, and this library doesn't
/// import Foundation there. Show `"\(error)"`.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// The facts of an error.
    ///
    /// They are in a class, so that an error is only as large as a pointer. Each function with a typed throw
    /// reserves space for the error that it can throw.
    private final class Facts: Sendable {
        let code: Code
        let managerName: String?
        let version: AppVersion?
        let path: String?
        let underlyingError: (any Error)?
        let isTransient: Bool

        /// What happened.
        let problem: String

        /// What the call that throws the error left unchanged.
        let unchanged: Unchanged

        /// What to do.
        let advice: String?

        init(
            code: Code,
            managerName: String?,
            version: AppVersion?,
            path: String?,
            underlyingError: (any Error)?,
            isTransient: Bool,
            problem: String,
            unchanged: Unchanged,
            advice: String?
        ) {
            self.code = code
            self.managerName = managerName
            self.version = version
            self.path = path
            self.underlyingError = underlyingError
            self.isTransient = isTransient
            self.problem = problem
            self.unchanged = unchanged
            self.advice = advice
        }
    }

    /// What the call that throws an error left unchanged.
    ///
    /// The same error can end a start, a declaration or a reset. So the code that creates it often doesn't
    /// know, and the public call says it with ``MigrationError/leaving(_:)``.
    package enum Unchanged: Sendable {
        /// The public call that throws the error says it.
        case saidByCall

        /// The description of what happened says it already, or there is nothing to say.
        case saidByProblem

        /// No migration was run by this call, which creates a manager.
        case everything

        /// The migration of this version was not run; `nil` if the declared text isn't a version.
        case migration(AppVersion?)

        /// A sentence.
        case text(Message)

        fileprivate var sentence: String? {
            switch self {
            case .saidByCall, .saidByProblem: nil
            case .everything: "Nothing was run."
            case .migration(nil): "The migration was not run."
            case .migration(let version?): "Migration \(version.description) was not run."
            case .text(let sentence): sentence.description.isEmpty ? nil : sentence.description
            }
        }
    }

    private let facts: Facts

    /// Makes an error for previews and tests of a screen that shows errors.
    ///
    /// <doc:ShowingStatus> has an example.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - managerName: The name of the manager.
    ///   - version: The version of the migration concerned.
    ///   - path: The file or folder concerned.
    ///   - underlyingError: The cause of this error, such as the closure's own error with the code
    ///     `migrationFailed`.
    ///   - isTransient: True if the same call may succeed later without anyone doing anything.
    ///   - description: The whole text; `nil` means the name of the code.
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
            problem: description ?? code.description,
            unchanged: .saidByProblem,
            advice: nil
        )
    }

    /// The kind of error.
    ///
    /// A later release of this library can add kinds, so a `switch` needs a `default`.
    public var code: Code { facts.code }

    /// The name of the manager.
    ///
    /// It is `nil` if the error is only about a string that isn't a valid version.
    public var managerName: String? { facts.managerName }

    /// The version of the migration concerned, if there is one.
    public var version: AppVersion? { facts.version }

    /// The file or folder concerned, if there is one.
    public var path: String? { facts.path }

    /// The cause of this error: an error of the app's own code, the failure that closed the manager, or a
    /// `SystemCallError`.
    public var underlyingError: (any Error)? { facts.underlyingError }

    /// True if the same call, through a new manager, may succeed later without anyone doing anything.
    ///
    /// Then try again after a while. It is true for ``Code/lockTimeout``, and if the state can't be read
    /// because the device hasn't been unlocked since it was booted. If several hosts share the data (a
    /// fleet), it is also true if a host has lost its lease, and if the shared store or database can't be
    /// reached, doesn't answer, has no resources left, or couldn't get a lock.
    ///
    /// It is false if a person or a new release has to fix something, for ``Code/usedByNewerApp``, and for
    /// the closure's own errors.
    public var isTransient: Bool { facts.isTransient }

    /// The whole text: what happened, where, what this call left unchanged, and what to do.
    public var description: String {
        [facts.problem, facts.unchanged.sentence, facts.advice].compactMap { $0 }.joined(separator: " ")
    }

    /// Makes an error from the parts of its text.
    ///
    /// If `unchanged` is `nil`, an error with advice lets the public call say what it left unchanged, and the
    /// problem of an error without advice says everything.
    package init(
        _ code: Code,
        manager: String? = nil,
        version: AppVersion? = nil,
        path: String? = nil,
        underlying: (any Error)? = nil,
        isTransient: Bool = false,
        _ problem: Message,
        unchanged: Unchanged? = nil,
        advice: Message? = nil
    ) {
        facts = Facts(
            code: code,
            managerName: manager,
            version: version,
            path: path,
            underlyingError: underlying,
            isTransient: isTransient,
            problem: problem.description,
            unchanged: unchanged ?? (advice == nil ? .saidByProblem : .saidByCall),
            advice: advice?.description
        )
    }

    private init(_ facts: Facts) { self.facts = facts }

    /// Returns this error, with what the call that throws it left unchanged, unless the error says so
    /// already.
    package func leaving(_ unchanged: Unchanged) -> MigrationError {
        guard case .saidByCall = facts.unchanged else { return self }
        return ending(in: unchanged)
    }

    /// Returns this error as the reason why something else ended, and says how it ended.
    package func ending(
        in outcome: Unchanged,
        code: Code? = nil,
        version: AppVersion? = nil,
        underlying: (any Error)? = nil
    ) -> MigrationError {
        let earlier = facts.unchanged.sentence.map { facts.problem + " " + $0 }
        return MigrationError(
            Facts(
                code: code ?? self.code,
                managerName: managerName,
                version: version ?? self.version,
                path: path,
                underlyingError: underlying ?? underlyingError,
                isTransient: isTransient,
                problem: earlier ?? facts.problem,
                unchanged: outcome,
                advice: facts.advice
            )
        )
    }
}

extension MigrationError {
    // For a new code, also choose what `MigrationAdvice` says to users. An error about a manager is made by
    // `StateLocation.error(_:version:…)`, which adds the manager's name and its path.

    /// The kind of a ``MigrationError``.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, as it is written in Swift.
        public let description: String

        /// Makes a code; each module declares the codes of its own errors.
        package init(_ name: StaticString) { description = name.description }

        /// A text can't be read as a version.
        ///
        /// If the text is a declared version, that migration was not run. Migrations that were declared
        /// before it may have run.
        public static var invalidVersion: Code { Code("invalidVersion") }

        /// No `currentVersion:` was given and the main bundle has no version.
        public static var unknownCurrentVersion: Code { Code("unknownCurrentVersion") }

        /// The manager's name has characters other than `A-Z a-z 0-9 . _ -`, is empty, is longer than 200
        /// characters, or begins with a dot.
        public static var invalidName: Code { Code("invalidName") }

        /// A version is above the app's version.
        ///
        /// It was declared, passed to `reset(to:)` or `upgradesFrom`, or is the answer of `firstRun:`.
        public static var newerThanCurrentVersion: Code { Code("newerThanCurrentVersion") }

        /// A declared version isn't above the version that was declared before it, or its
        /// `minimumAppVersion:` is above the declared version.
        public static var declaredOutOfOrder: Code { Code("declaredOutOfOrder") }

        /// An earlier declaration of this manager threw; or the state was moved aside or reset; or `plan`
        /// passed this manager to its closure and the plan has ended.
        public static var managerClosed: Code { Code("managerClosed") }

        /// The declared version hasn't run, and a newer version of the app has already begun to change the
        /// data.
        ///
        /// Or an app older than ``MigrationManager/requiredAppVersion`` called `reset(to:)` or `withLock`.
        ///
        /// The declared migration was not run, `lastRunVersion` was not changed, or the closure of `withLock`
        /// was not called. Continue with the newer version of the app. The error's description says what else
        /// you can do. If a newer version of the app was launched but ran no migration, this error isn't
        /// thrown, because the data is unchanged.
        public static var usedByNewerApp: Code { Code("usedByNewerApp") }

        /// The data is older than `upgradesFrom`: this app no longer has all the migrations that the data
        /// needs.
        ///
        /// The call changed nothing. First start an older release of the app that still has the removed
        /// migrations.
        public static var tooOld: Code { Code("tooOld") }

        /// A migration is pending, or a call would take the lock or change the state, and the manager was
        /// made with `isReadOnly`.
        ///
        /// The call changed nothing. Make the same call with a manager that isn't read-only.
        public static var readOnly: Code { Code("readOnly") }

        /// The closure of a migration or of `withLock` used a manager of the same state, which would wait for
        /// that closure.
        ///
        /// Or a manager was used while one of its declarations was running.
        ///
        /// If a second declaration of a manager begins while one is running, it throws this code and the
        /// manager stays open. A declaration of another manager, in a detached task or on another thread,
        /// waits and doesn't throw.
        public static var nested: Code { Code("nested") }

        /// The closure threw; ``MigrationError/underlyingError`` is its error.
        public static var migrationFailed: Code { Code("migrationFailed") }

        /// The closure threw `CancellationError` or an error with this code, or its task was cancelled before
        /// the closure began or before a checkpoint.
        public static var cancelled: Code { Code("cancelled") }

        /// As many processes have crashed while they ran this migration as `attemptLimit` allows.
        ///
        /// So the migration was not run again.
        public static var attemptLimitReached: Code { Code("attemptLimitReached") }

        /// Another process held the lock for longer than `lockTimeout` allows.
        public static var lockTimeout: Code { Code("lockTimeout") }

        /// A later start might not find the state's folder again, for example because `stateDirectory:` is a
        /// relative path.
        ///
        /// Or no folder was passed and there is no default.
        ///
        /// The call changed nothing. The error is thrown at each start until the app passes another folder.
        public static var unusableDirectory: Code { Code("unusableDirectory") }

        /// The state could not be read, or was removed after the manager was made.
        ///
        /// Create a new manager later.
        public static var stateUnreadable: Code { Code("stateUnreadable") }

        /// The state file is damaged, or wasn't written by this library.
        public static var stateCorrupted: Code { Code("stateCorrupted") }

        /// The state file was written by a newer release of this library.
        public static var stateFromNewerFormat: Code { Code("stateFromNewerFormat") }

        /// The state could not be saved or removed, its lock could not be taken or was lost, or the work of a
        /// closure could not be synced to disk.
        public static var stateNotSaved: Code { Code("stateNotSaved") }

        /// A checkpoint could not be saved.
        ///
        /// The same code is used if a saved checkpoint can't be read as the type that was asked for.
        public static var checkpointNotSaved: Code { Code("checkpointNotSaved") }

        /// A file or a folder could not be replaced by the copy on which a closure had worked.
        ///
        /// The original is in its place, unless the error's description says otherwise. In that case, the
        /// next start finishes the work.
        public static var replacementFailed: Code { Code("replacementFailed") }

        /// The `firstRun:` expression threw; ``MigrationError/underlyingError`` is its error.
        public static var firstRunFailed: Code { Code("firstRunFailed") }
    }
}

/// What the user of an app can do after a start that failed.
///
/// The description of a ``MigrationError`` is for developers. An advice is for a user: to make room on a full
/// disk, to unlock the device, to update the app, or to send you the details.
///
/// *Try again* means a button that calls ``MigrationGate/retry()``. This method also lets a migration run
/// again that has reached `attemptLimit`. A command-line tool has no such button, so it should name the
/// command that helps, after `attemptLimitReached` and `stateCorrupted`: <doc:ACommandLineTool> has the code.
///
/// ```swift
/// func message(for error: any Error) -> (text: String, retry: Bool) {
///     let advice = MigrationAdvice(after: error)
///     return (advice.description, advice.offersRetry)
/// }
/// ```
///
/// ``description`` is English. For other languages, use ``name`` as the key of a localized text. A later
/// release of this library may add an advice. If you have no text for a name, show the description.
public struct MigrationAdvice: Sendable, Hashable, CustomStringConvertible {
    /// The name of the advice, as it is written in Swift: `makeRoom`.
    public let name: String

    /// A sentence for the user, in English.
    public let description: String

    /// True if the same start can succeed after the user has done what the sentence says.
    ///
    /// In that case, offer a button that calls ``MigrationGate/retry()``.
    public let offersRetry: Bool

    private init(_ name: StaticString, _ description: StaticString, offersRetry: Bool) {
        self.name = name.description
        self.description = description.description
        self.offersRetry = offersRetry
    }

    /// Chooses the advice for an error from a manager, from a gate, or from the closure that the app passed
    /// to the gate.
    ///
    /// A full disk is recognized in the errors of this package's modules and of Foundation, even if a
    /// migration's closure threw them. It isn't recognized in the errors of other libraries.
    ///
    /// Missing permissions are recognized in ``SystemCallError`` and in the errors of Foundation. On iOS and
    /// the other systems where users can't change permissions, the advice is ``tryAgain`` or ``sendDetails``.
    public init(after error: any Error) {
        switch error {
        case _ where error.isDueToFullDisk: self = .makeRoom
        case is MigrationGate.RequiresUnlock: self = .unlockDevice
        case is MigrationGate.RequiresAppVersion: self = .updateApp
        case is CancellationError: self = .continueLater
        case let error as MigrationError: self = Self.advice(after: error)
        case _ where Self.asksForPermissions(after: error): self = .makeWritable
        default: self = .sendDetails
        }
    }

    private static func advice(after error: MigrationError) -> MigrationAdvice {
        // `firstRun:` and the closure of a migration can throw errors of the gate, which are then the cause
        // of a manager's error.
        if let cause = error.underlyingError,
            cause is MigrationGate.RequiresUnlock || cause is MigrationGate.RequiresAppVersion
        {
            return MigrationAdvice(after: cause)
        }
        switch error.code {
        case .cancelled: return .continueLater
        case .usedByNewerApp, .stateFromNewerFormat: return .updateApp
        case .tooOld: return .installEarlierVersion
        case .stateUnreadable where error.isDueToLockedDevice: return .unlockDevice
        case .lockTimeout: return .waitForOtherProcess
        case _ where asksForPermissions(after: error): return .makeWritable
        case .attemptLimitReached, .stateUnreadable, .migrationFailed, .firstRunFailed, .managerClosed,
            .stateNotSaved, .checkpointNotSaved:
            return .tryAgain
        default: return error.isTransient ? .waitForOtherProcess : .sendDetails
        }
    }

    private static func asksForPermissions(after error: any Error) -> Bool {
        Platform.letsUsersChangePermissions && error.isDueToMissingPermission
    }
}

extension MigrationAdvice {
    /// The disk is full.
    public static let makeRoom = MigrationAdvice(
        "makeRoom",
        "The update could not be saved because the disk is full. Make room, then try again.",
        offersRetry: true
    )

    /// The user isn't permitted to read or change the files.
    public static let makeWritable = MigrationAdvice(
        "makeWritable",
        "Your data can't be read or changed. Check the permissions of its files and folders, then try again.",
        offersRetry: true
    )

    /// The device is locked.
    public static let unlockDevice = MigrationAdvice(
        "unlockDevice",
        "Your data can't be read while the device is locked. Unlock it, then try again.",
        offersRetry: true
    )

    /// Another process, or another host of a fleet, is migrating the data.
    public static let waitForOtherProcess = MigrationAdvice(
        "waitForOtherProcess",
        "Your data is already being updated. Try again in a minute.",
        offersRetry: true
    )

    /// The update was cancelled.
    public static let continueLater = MigrationAdvice(
        "continueLater",
        "The update was stopped. It continues at the next start.",
        offersRetry: true
    )

    /// A newer version of the app wrote the data.
    public static let updateApp = MigrationAdvice(
        "updateApp",
        "A newer version of the app has changed your data. Update the app.",
        offersRetry: false
    )

    /// The data is older than this app can update.
    public static let installEarlierVersion = MigrationAdvice(
        "installEarlierVersion",
        "Your data is from a very old version of the app. Ask us which version to install first.",
        offersRetry: false
    )

    /// A migration failed, or the state could not be read or saved.
    public static let tryAgain = MigrationAdvice(
        "tryAgain",
        "Your data could not be updated. Try again. If that doesn't help, send us the details.",
        offersRetry: true
    )

    /// Copies of files could not be made or restored.
    public static let keepData = MigrationAdvice(
        "keepData",
        "A copy of your data could not be made or restored. Don't change your data, and send us the details.",
        offersRetry: false
    )

    /// The app has a mistake, or its state is damaged.
    public static let sendDetails = MigrationAdvice(
        "sendDetails",
        "The update failed, and your data was left as it is. Send us the details.",
        offersRetry: false
    )
}

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

    /// True if the same start can succeed later, for example after the user has done what the sentence says.
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
    /// A full disk and missing permissions are recognized in the errors of this package's modules and of
    /// Foundation, also if such an error is the cause of another one, and if a migration's closure threw it.
    /// They aren't recognized in the errors of other libraries.
    ///
    /// On iOS and the other systems where users can't change permissions, the advice after missing
    /// permissions is ``tryAgain`` or ``sendDetails``.
    public init(after error: any Error) { self = Self.known(after: error) ?? .sendDetails }

    /// The advice for an error; `nil` if nothing is known about it.
    package static func known(after error: any Error) -> MigrationAdvice? {
        if let error = error as? any AdvisedError { return error.userAdvice }
        return error.adviceOfFoundation
    }

    /// The advice after missing permissions; `nil` on systems where users can't change them.
    package static var afterMissingPermission: MigrationAdvice? {
        Platform.letsUsersChangePermissions ? .makeWritable : nil
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

    /// Nothing is known about the error: it is the app's own, the app has a mistake, or its state is damaged.
    public static let sendDetails = MigrationAdvice(
        "sendDetails",
        "The update failed. Send us the details.",
        offersRetry: true
    )
}

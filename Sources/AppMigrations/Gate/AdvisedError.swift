/// An error that says what a user can do about it.
///
/// Each module's errors conform to it, so that ``MigrationAdvice`` and the gate know no error of another
/// module.
package protocol AdvisedError: Error {
    /// The advice for a user; `nil` if only the developer can do something.
    var userAdvice: MigrationAdvice? { get }

    /// The error that caused this one.
    var underlyingError: (any Error)? { get }
}

extension AdvisedError {
    package var underlyingError: (any Error)? { nil }
}

extension Error {
    /// This error or one of its causes, if it has the given type.
    func cause<Cause: Error>(_ type: Cause.Type) -> Cause? {
        if let error = self as? Cause { return error }
        return (self as? any AdvisedError)?.underlyingError?.cause(type)
    }
}

extension CancellationError: AdvisedError {
    package var userAdvice: MigrationAdvice? { .continueLater }
}

extension SystemCallError: AdvisedError {
    package var userAdvice: MigrationAdvice? {
        if isOfFullDisk { return .makeRoom }
        return Platform.missingPermission.contains(errorNumber) ? .afterMissingPermission : nil
    }
}

extension MigrationError: AdvisedError {
    package var userAdvice: MigrationAdvice? {
        switch code {
        case .cancelled: .continueLater
        case .usedByNewerApp, .stateFromNewerFormat: .updateApp
        case .tooOld: .installEarlierVersion
        case .lockTimeout: .waitForOtherProcess
        // A manager's state can't be read while the device is locked.
        case .stateUnreadable where isTransient && underlyingError is SystemCallError: .unlockDevice
        case .attemptLimitReached, .stateUnreadable, .migrationFailed, .firstRunFailed, .managerClosed,
            .stateNotSaved, .checkpointNotSaved:
            adviceOfCause ?? .tryAgain
        default: adviceOfCause ?? (isTransient ? .waitForOtherProcess : nil)
        }
    }

    private var adviceOfCause: MigrationAdvice? {
        let advice = underlyingError.flatMap(MigrationAdvice.known)
        // Nobody has to change permissions if the same call may succeed later by itself.
        return isTransient && advice == .makeWritable ? nil : advice
    }
}

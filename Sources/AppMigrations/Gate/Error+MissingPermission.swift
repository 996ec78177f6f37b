extension Error {
    /// True if this error, or its cause, says that this user isn't permitted to read or change a file.
    ///
    /// The codes of `NSCocoaErrorDomain` are Foundation's `fileReadNoPermission` (257),
    /// `fileWriteNoPermission` (513) and `fileWriteVolumeReadOnly` (642).
    ///
    /// A transient error is different: the device may be locked, and the permissions can be right.
    package var isDueToMissingPermission: Bool {
        switch self {
        case let error as SystemCallError: Platform.missingPermission.contains(error.errorNumber)
        case let error as MigrationError:
            !error.isTransient && error.underlyingError?.isDueToMissingPermission ?? false
        case let error as any FileUsingError: error.isDueToMissingPermission
        default: isCocoaError([257, 513, 642]) || isPOSIXError(Platform.missingPermission)
        }
    }
}

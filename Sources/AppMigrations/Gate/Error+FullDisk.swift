extension Error {
    /// True if this error, or its cause, says that the disk is full or that the user's quota is used up.
    ///
    /// The code 640 of `NSCocoaErrorDomain` is Foundation's `fileWriteOutOfSpace`.
    package var isDueToFullDisk: Bool {
        switch self {
        case let error as SystemCallError: error.isOfFullDisk
        case let error as MigrationError: error.underlyingError?.isDueToFullDisk ?? false
        case let error as any FileUsingError: error.isDueToFullDisk
        default: isCocoaError([640]) || isPOSIXError(Platform.fullDisk)
        }
    }
}

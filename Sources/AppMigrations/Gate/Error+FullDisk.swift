extension Error {
    /// True if this error, or its cause, says that the disk is full or that the user's quota is used up.
    ///
    /// The code 640 of `NSCocoaErrorDomain` is Foundation's `fileWriteOutOfSpace`.
    package var isDueToFullDisk: Bool {
        switch self {
        case let error as SystemCallError: error.isOfFullDisk
        case let error as MigrationError: error.underlyingError?.isDueToFullDisk ?? false
        case let error as any DiskUsingError: error.isDueToFullDisk
        default:
            isFoundationError(640, in: "NSCocoaErrorDomain")
                || Platform.fullDisk.contains { isFoundationError(Int($0), in: "NSPOSIXErrorDomain") }
        }
    }

    /// True if this is Foundation's error of the given domain and code.
    ///
    /// This module doesn't import Foundation. On Apple's systems, each error has a domain and a code. On
    /// Linux, only `NSError` has them: the descriptions of `CocoaError` and `POSIXError` begin with their
    /// domain and code instead.
    private func isFoundationError(_ code: Int, in domain: String) -> Bool {
        if _domain == domain { return _code == code }
        return "\(self)".hasPrefix("Error Domain=\(domain) Code=\(code) ")
    }
}

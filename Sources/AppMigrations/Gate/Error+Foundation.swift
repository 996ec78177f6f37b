/// Recognizes Foundation's errors in a module that doesn't import Foundation.
extension Error {
    /// The advice after an error of Foundation, or after an error whose description contains one.
    ///
    /// The description of `NSError`, `CocoaError` and `POSIXError` contains their domain and code, and that
    /// of their underlying error. So does the description of a Swift error that has one of them as a value,
    /// if the app doesn't write it itself. The codes of `NSCocoaErrorDomain` are `fileWriteOutOfSpace` (640),
    /// `fileReadNoPermission` (257), `fileWriteNoPermission` (513) and `fileWriteVolumeReadOnly` (642).
    var adviceOfFoundation: MigrationAdvice? {
        let text = Array("\(self)".utf8)
        func contains(_ codes: [Int], of domain: String) -> Bool {
            codes.contains { text.contains(Array("Error Domain=\(domain) Code=\($0) ".utf8)) }
        }
        let posix = "NSPOSIXErrorDomain"
        let cocoa = "NSCocoaErrorDomain"
        if contains([640], of: cocoa) || contains(Platform.fullDisk.map(Int.init), of: posix) {
            return .makeRoom
        }
        if contains([257, 513, 642], of: cocoa)
            || contains(Platform.missingPermission.map(Int.init), of: posix)
        {
            return .afterMissingPermission
        }
        return nil
    }
}

extension [UInt8] {
    /// True if the bytes occur in these.
    ///
    /// The `contains(_:)` of the standard library is in a library of its own, which this module doesn't load.
    fileprivate func contains(_ bytes: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: bytes) }
    }
}

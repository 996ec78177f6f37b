/// Recognizes Foundation's errors in a module that doesn't import Foundation.
extension Error {
    /// True if this is `CocoaError` or `NSError` with one of these codes of `NSCocoaErrorDomain`.
    func isCocoaError(_ codes: [Int]) -> Bool {
        codes.contains { isFoundationError($0, in: "NSCocoaErrorDomain") }
    }

    /// True if this is `POSIXError` or `NSError` with one of these error numbers, or a Cocoa error that one
    /// of them has caused.
    func isPOSIXError(_ numbers: [Int32]) -> Bool {
        let domain = "NSPOSIXErrorDomain"
        if numbers.contains(where: { isFoundationError(Int($0), in: domain) }) { return true }
        let text = "\(self)"
        let cocoa = "NSCocoaErrorDomain"
        let isCocoaError = _domain == cocoa || text.hasPrefix("Error Domain=\(cocoa) ")
        // The description of a Cocoa error contains the description of its underlying error.
        return isCocoaError && numbers.contains { text.containsText("Error Domain=\(domain) Code=\($0) ") }
    }

    /// True if this is Foundation's error of the given domain and code.
    ///
    /// On Apple's systems, each error has a domain and a code. On Linux, only `NSError` has them: the
    /// descriptions of `CocoaError` and `POSIXError` begin with their domain and code instead.
    private func isFoundationError(_ code: Int, in domain: String) -> Bool {
        if _domain == domain { return _code == code }
        return "\(self)".hasPrefix("Error Domain=\(domain) Code=\(code) ")
    }
}

extension String {
    /// True if the text occurs in this one.
    ///
    /// The `contains(_:)` of the standard library is in a library of its own, which this module doesn't load.
    fileprivate func containsText(_ text: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: text.utf8) }
    }
}

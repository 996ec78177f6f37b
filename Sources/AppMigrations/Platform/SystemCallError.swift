/// A call of the operating system that failed: which one, on what, and its error number.
///
/// It comes as the ``MigrationError/underlyingError`` of errors that have to do with files.
public struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call's name, for instance `open`.
    public let call: String

    /// The error number the call left, POSIX's `errno`.
    public let errorNumber: Int32

    /// The file or folder that the call was about, where one was named.
    public let path: String?

    package init(call: String, errorNumber: Int32, path: String? = nil) {
        self.call = call
        self.errorNumber = errorNumber
        self.path = path
    }

    /// The path, the system's text for the error, the call and the number.
    public var description: String {
        let place = path.map { $0 + ": " } ?? ""
        return place + "\(Platform.text(ofError: errorNumber)) (\(call), errno \(errorNumber))"
    }
}

/// The errors that a caller tells apart.
extension SystemCallError {
    var isAbsent: Bool { errorNumber == Platform.noEntry || errorNumber == Platform.notADirectory }
}

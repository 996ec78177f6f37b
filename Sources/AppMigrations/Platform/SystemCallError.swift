/// A call of the operating system that failed: which one, and its error number.
///
/// It comes as the ``MigrationError/underlyingError`` of errors that have to do with files.
public struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call's name, for instance `open`.
    public let call: String

    /// The error number the call left, POSIX's `errno`.
    public let errorNumber: Int32

    package init(call: String, errorNumber: Int32) {
        self.call = call
        self.errorNumber = errorNumber
    }

    /// The system's text for the error, the call and the number.
    public var description: String {
        "\(Platform.text(ofError: errorNumber)) (\(call), errno \(errorNumber))"
    }
}

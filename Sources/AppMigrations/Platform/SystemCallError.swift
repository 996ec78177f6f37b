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

extension SystemCallError {
    /// True if nothing stands at the path.
    var isAbsent: Bool { errorNumber == Platform.noEntry || errorNumber == Platform.notADirectory }

    /// This error with its path, where that isn't said.
    func at(_ place: String) -> SystemCallError {
        SystemCallError(call: call, errorNumber: errorNumber, path: path ?? place)
    }
}

extension Platform {
    /// Says of an error what it was about, where that isn't said.
    static func at<Value>(
        _ path: String,
        _ body: () throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw error.at(path)
        }
    }
}

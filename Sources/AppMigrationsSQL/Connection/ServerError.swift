/// An error as a database server reported it.
///
/// The description of a client's error is not enough. PostgresNIO leaves the server's message out of it, and
/// a server may write messages in any language.
public struct ServerError: Sendable {
    /// The message of the server.
    public var message: String

    /// The SQLSTATE, a code of five characters for the reason ("PostgreSQL Error Codes").
    ///
    /// For example, it is `55P03` if a lock wasn't available in time.
    ///
    /// `nil` means that no server reported the error: the connection was lost or could not be opened. The
    /// same work may succeed on another connection.
    public var sqlState: String?

    /// Facts that the message doesn't contain, for example the values of a key.
    public var detail: String?

    /// The server's advice.
    public var hint: String?

    /// Creates an error from the parts that the server sent.
    public init(message: String, sqlState: String? = nil, detail: String? = nil, hint: String? = nil) {
        self.message = message
        self.sqlState = sqlState
        self.detail = detail
        self.hint = hint
    }

    /// The message, the detail and the hint, each as a sentence.
    var text: String {
        [detail, hint].compactMap(\.self).reduce(message) { $0 + ($0.hasSuffix(".") ? " " : ". ") + $1 }
    }
}

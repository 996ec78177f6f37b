/// An error in the words of a database server.
///
/// The description of an error is no reason: PostgresNIO hides there what the server said, and a server has words in any
/// language.
public struct ServerError: Sendable {
    /// The message of the server.
    public var message: String

    /// The five characters that tell a program why ("PostgreSQL Error Codes"), `55P03` where a lock was waited for in vain.
    public var sqlState: String?

    /// Facts beyond the message, the values of a key for instance.
    public var detail: String?

    /// The server's advice.
    public var hint: String?

    /// The answer of a connection for an error of its server.
    public init(message: String, sqlState: String? = nil, detail: String? = nil, hint: String? = nil) {
        (self.message, self.sqlState, self.detail, self.hint) = (message, sqlState, detail, hint)
    }

    /// All of the words, each part a sentence.
    var text: String {
        [detail, hint].compactMap(\.self).reduce(message) { $0 + ($0.hasSuffix(".") ? " " : ". ") + $1 }
    }
}

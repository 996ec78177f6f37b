/// What a database server said of an error.
///
/// The description of an error is no reason: PostgresNIO hides there what the server said, and a server has words in any
/// language.
public struct SQLServerError: Sendable {
    /// What went wrong, in the server's words.
    public var message: String

    /// The five characters that tell a program why ("PostgreSQL Error Codes"), `55P03` where a lock was waited for in vain.
    public var sqlState: String?

    /// What the server knows beyond the message, the values of a key for instance.
    public var detail: String?

    /// What the server advises.
    public var hint: String?

    /// What a connection answers for an error of its server.
    public init(message: String, sqlState: String? = nil, detail: String? = nil, hint: String? = nil) {
        (self.message, self.sqlState, self.detail, self.hint) = (message, sqlState, detail, hint)
    }

    /// All of the words, each part a sentence.
    var text: String {
        [detail, hint].compactMap(\.self).reduce(message) { $0 + ($0.hasSuffix(".") ? " " : ". ") + $1 }
    }
}

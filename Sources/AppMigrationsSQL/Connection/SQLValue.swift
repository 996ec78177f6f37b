/// A value of a column or a parameter, of one of the five types that SQLite stores ("Datatypes In SQLite").
///
/// Values can be written as literals: `[1, "draft", nil]` is a list of arguments. For variables, write
/// `[SQLValue(id), SQLValue(title)]`.
public enum SQLValue: Sendable, Hashable {
    /// Nothing: `NULL`.
    case null
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    ///
    /// SQLite stores `NaN` as `NULL`.
    case real(Double)
    /// Text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
{
    /// `7` as an argument.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// `0.5` as an argument.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// `"draft"` as an argument.
    public init(stringLiteral value: String) { self = .text(value) }
    /// `nil` as an argument: `NULL`.
    public init(nilLiteral: ()) { self = .null }
}

extension SQLValue {
    /// A whole number, or `NULL` for `nil`.
    public init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    /// A whole number, or `NULL` for `nil`.
    public init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    /// A number with a fraction, or `NULL` for `nil`.
    public init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    /// 1 for `true` and 0 for `false`, or `NULL` for `nil`.
    public init(_ value: Bool?) { self = value.map { .integer($0 ? 1 : 0) } ?? .null }
    /// A text, or `NULL` for `nil`.
    public init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    /// Bytes, or `NULL` for `nil`.
    public init(_ value: [UInt8]?) { self = value.map { .blob($0) } ?? .null }
}

extension SQLValue: CustomStringConvertible {
    /// The value as it is written in SQL: `7`, `1.5`, `'It''s'`, `x'00ff'`, `NULL`.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let text): text.quoted(with: "'")
        case .blob(let bytes):
            "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        }
    }

    /// The value as a whole number.
    ///
    /// Text that is a whole number counts, because some connections return every value as text.
    package var number: Int64? {
        switch self {
        case .integer(let number): number
        case .text(let text): Int64(text)
        default: nil
        }
    }

    /// The value for the message of an error.
    package var shown: String {
        switch self {
        case .text(let text):
            // This is enough to recognize the value, and keeps an error short enough for one line of a log.
            let limit = 60
            return text.count > limit ? "the text \"\(text.prefix(limit))…\"" : "the text \"\(text)\""
        case .blob(let bytes): return "a blob of \(bytes.count) bytes"
        default: return description
        }
    }
}

extension [SQLValue] {
    /// The text in a column of this row.
    ///
    /// Columns are counted from 0.
    ///
    /// Throws if the value in that column isn't text.
    package func text(_ column: Int) throws(SQLError) -> String {
        if indices.contains(column), case .text(let text) = self[column] { return text }
        throw SQLError(.statementFailed, "A row has no text in its column \(column + 1): \(self)")
    }
}

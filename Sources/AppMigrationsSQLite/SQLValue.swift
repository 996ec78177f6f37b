/// A value of a column or a parameter: one of the five that SQLite stores ("Datatypes In SQLite").
///
/// Literals stand for values, so that `[1, "draft", nil]` is a list of arguments.
public enum SQLValue: Sendable, Hashable {
    /// Nothing: `NULL`.
    case null
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction; `NaN` comes back as `null`.
    case real(Double)
    /// A text.
    case text(String)
    /// Bytes as they are.
    case blob([UInt8])
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(nilLiteral: ()) { self = .null }
}

/// A type as which ``SQLValue/value(as:)`` can read a value.
///
/// `Int`, `Int64`, `Double`, `Bool`, `String`, `[UInt8]` and their optionals conform. To make a type of your
/// own conform, for example an identifier, implement `reading(_:)`.
public protocol SQLReadable {
    /// The value as this type; `nil` if it doesn't fit, so that ``SQLValue/value(as:)`` throws.
    static func reading(_ value: SQLValue) -> Self?
}

extension SQLValue {
    /// The value as a Swift type.
    ///
    /// ```swift
    /// for row in try db.query("SELECT id, title, color FROM note") {
    ///     let id = try row[0].value(as: Int.self)
    ///     let title = try row[1].value(as: String.self)
    ///     let color = try row[2].value(as: String?.self)
    ///     notes.append(Note(id: id, title: title, color: color))
    /// }
    /// ```
    ///
    /// No value is converted in a way that would change it: a `Bool` is 0 or 1, a `Double` may also be read
    /// from a whole number that it equals, and `NULL` only fits optionals.
    ///
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/unreadableRow``, the value and the type that it
    ///   does not fit.
    public func value<Value: SQLReadable>(as type: Value.Type = Value.self) throws(SQLError) -> Value {
        guard let value = Value.reading(self) else {
            throw SQLError(.unreadableRow, "\(shown) does not fit \(type)")
        }
        return value
    }
}

extension Int: SQLReadable {
    public static func reading(_ value: SQLValue) -> Int? {
        if case .integer(let number) = value { Int(exactly: number) } else { nil }
    }
}

extension Int64: SQLReadable {
    public static func reading(_ value: SQLValue) -> Int64? {
        if case .integer(let number) = value { number } else { nil }
    }
}

extension Double: SQLReadable {
    public static func reading(_ value: SQLValue) -> Double? {
        switch value {
        case .real(let number): number
        // A column of numeric affinity keeps 3.0 as the integer 3 ("Datatypes In SQLite").
        case .integer(let number): Double(exactly: number)
        default: nil
        }
    }
}

extension Bool: SQLReadable {
    public static func reading(_ value: SQLValue) -> Bool? {
        switch value {
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }
}

extension String: SQLReadable {
    public static func reading(_ value: SQLValue) -> String? {
        if case .text(let text) = value { text } else { nil }
    }
}

extension Array: SQLReadable where Element == UInt8 {
    public static func reading(_ value: SQLValue) -> [UInt8]? {
        if case .blob(let bytes) = value { bytes } else { nil }
    }
}

extension Optional: SQLReadable where Wrapped: SQLReadable {
    public static func reading(_ value: SQLValue) -> Wrapped?? {
        value == .null ? .some(nil) : Wrapped.reading(value).map { .some($0) }
    }
}

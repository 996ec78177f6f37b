/// How values of a type are kept in a column.
///
/// Foundation's types are known by their names, so that the library does not bring Foundation into a
/// program that has none. What they encode is part of their documented formats: a `Date` is a number of
/// seconds since 2001, a `UUID` a text.
enum ValueKind {
    /// What the type encodes by itself: a number or a text.
    case plain

    /// A `BLOB`: `Data`, `[UInt8]` and other collections of bytes.
    case bytes(any RangeReplaceableCollection<UInt8>.Type)

    case date, uuid

    init(of type: any Any.Type) {
        if let bytes = type as? any RangeReplaceableCollection<UInt8>.Type {
            self = .bytes(bytes)
            return
        }
        // Linux has them in a module of their own.
        switch String(reflecting: type) {
        case "Foundation.Date", "FoundationEssentials.Date": self = .date
        case "Foundation.UUID", "FoundationEssentials.UUID": self = .uuid
        default: self = .plain
        }
    }

    /// Whether the type would otherwise ask a row for something that only a column has.
    var isOneValue: Bool {
        if case .plain = self { false } else { true }
    }
}

/// The types that a column stores differently from the way in which they encode themselves: bytes as a blob,
/// dates as seconds since 1970, UUIDs as text or bytes.
///
/// Foundation's types are recognized by their names, so that the library doesn't link Foundation into a
/// program that doesn't use it. The way in which they encode themselves is documented: a `Date` as a
/// number of seconds since 2001, a `UUID` as a text.
enum ValueKind {
    /// A `BLOB`: `Data`, `[UInt8]` and other collections of bytes.
    case bytes(any RangeReplaceableCollection<UInt8>.Type)

    case date, uuid

    init?(of type: any Any.Type) {
        if let bytes = type as? any RangeReplaceableCollection<UInt8>.Type {
            self = .bytes(bytes)
            return
        }
        // On Linux, these types are declared in the module FoundationEssentials.
        switch String(reflecting: type) {
        case "Foundation.Date", "FoundationEssentials.Date": self = .date
        case "Foundation.UUID", "FoundationEssentials.UUID": self = .uuid
        default: return nil
        }
    }

    /// Caches the kind of each type, because `ValueKind(of:)` is slow.
    struct Cache {
        private var kinds: [ObjectIdentifier: ValueKind?] = [:]

        subscript(type: any Any.Type) -> ValueKind? {
            mutating get {
                if let kind = kinds[ObjectIdentifier(type)] { return kind }
                let kind = ValueKind(of: type)
                kinds[ObjectIdentifier(type)] = kind
                return kind
            }
        }
    }
}

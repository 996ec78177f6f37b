internal import AppMigrationsSQL

extension RowDecoder {
    /// A value that is read as `SQLValue.value(as:)` reads it.
    func plain<Value: SQLReadable>(at column: Int) throws(SQLError) -> Value {
        let value = Value.reading(try statement.value(at: column))
        guard let value else { throw try misfit(column, "\(Value.self)") }
        return value
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at column: Int) throws(SQLError) -> Value {
        let integer = Int64.reading(try statement.value(at: column))
        guard let integer, let value = Value(exactly: integer) else { throw try misfit(column, "\(type)") }
        return value
    }

    func float(at column: Int) throws(SQLError) -> Float {
        let double = Double.reading(try statement.value(at: column))
        guard let double else { throw try misfit(column, "Float") }
        guard let value = Float(exactly: double) else { throw try misfit(column, "Float", Misfit.rounded) }
        return value
    }

    /// A value of any other type.
    func value<Value: Decodable>(_ type: Value.Type, at column: Int) throws(SQLError) -> Value {
        let kind = kinds[type]
        if case .bytes(let bytes) = kind {
            guard case .blob(let blob) = try statement.value(at: column),
                let value = Self.collection(bytes, blob) as? Value
            else { throw try misfit(column, "\(type)") }
            return value
        }
        do { return try type.init(from: CellDecoder(row: self, column: column, kind: kind)) } catch {
            if let error = error as? SQLError { throw error }
            throw try misfit(column, "\(type)", error)
        }
    }

    private static func collection<Bytes: RangeReplaceableCollection<UInt8>>(
        _ type: Bytes.Type,
        _ bytes: [UInt8]
    ) -> any RangeReplaceableCollection<UInt8> { Bytes(bytes) }

    /// Seconds since 2001, which is what a `Date` reads.
    func date(at column: Int) throws(SQLError) -> Double {
        let seconds: Double? =
            switch try statement.value(at: column) {
            case .integer(let value): Double(exactly: value)
            case .real(let value): value
            case .text(let text): try dates.get().secondsSince1970(text)
            case .null, .blob: nil
            }
        guard let seconds else { throw try misfit(column, "Date") }
        return seconds - DateText.from1970To2001
    }

    /// The text that a `UUID` reads, also for its 16 bytes.
    func uuid(at column: Int) throws(SQLError) -> String {
        switch try statement.value(at: column) {
        case .text(let text): return text
        case .blob(let bytes) where bytes.count == 16:
            let digits = bytes.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)) }
            return [digits[..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10...]]
                .map { $0.joined() }.joined(separator: "-")
        default: throw try misfit(column, "UUID")
        }
    }
}

/// Why a value doesn't fit a type, where the value alone doesn't tell.
enum Misfit: String, Error, CustomStringConvertible {
    case rounded = "it would be rounded; read a Double"
    case several = "it is made of several values, and a column has one"

    var description: String { rawValue }
}

/// Dates as texts: `2026-11-21`, `2026-11-21 09:43`, `2026-11-21T09:43:05.25Z`, `2026-11-21 09:43:05+02:00`.
///
/// They are the forms that SQLite's own functions read ("Date And Time Functions", Time Values 1 to 7), in UTC where they name
/// no other zone, and SQLite reads them.
struct DateText {
    static let from1970To2001 = 978_307_200.0

    /// SQLite takes February 30 for March 1 or 2, and 24:00 for the next day: such a text is not what comes back, once a modifier
    /// has had the date computed.
    private static let sql = """
        SELECT CAST(strftime('%s', ?1) AS INTEGER)
        WHERE strftime('%Y-%m-%d', substr(?1, 1, 10), '+0 days') = substr(?1, 1, 10)
            AND (length(?1) = 10 OR strftime('%H:%M', substr(?1, 12, 5), '+0 days') = substr(?1, 12, 5))
        """

    private let reading: SQLiteConnection.Statement

    init(_ db: SQLiteConnection) throws(SQLError) { reading = try db.prepare(Self.sql) }

    /// The seconds since 1970; `nil` for a text that is no date of the calendar.
    func secondsSince1970(_ text: String) throws(SQLError) -> Double? {
        var (whole, fraction) = (text, 0.0)
        // SQLite rounds a second to thousandths.
        if let dot = text.firstIndex(of: ".") {
            let digits = text[dot...].dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard text[..<dot].utf8.count == 19, !digits.isEmpty, let part = Double("0.\(digits)") else {
                return nil
            }
            (whole, fraction) = (String(text[..<dot] + text[digits.endIndex...]), part)
        }
        // SQLite would read no further than to a zero byte.
        if whole.utf8.contains(0) { return nil }
        try reading.bind([.text(whole)])
        defer { reading.reset() }
        guard try reading.step(), case .integer(let seconds) = try reading.value(at: 0) else { return nil }
        return Double(seconds) + fraction
    }
}

/// How values of a type are kept in a column, where it is not the number or the text that the type encodes by itself.
///
/// Foundation's types are known by their names, so that the library does not bring Foundation into a
/// program that has none. What they encode is part of their documented formats: a `Date` is a number of
/// seconds since 2001, a `UUID` a text.
enum ValueKind {
    /// A `BLOB`: `Data`, `[UInt8]` and other collections of bytes.
    case bytes(any RangeReplaceableCollection<UInt8>.Type)

    case date, uuid

    init?(of type: any Any.Type) {
        if let bytes = type as? any RangeReplaceableCollection<UInt8>.Type {
            self = .bytes(bytes)
            return
        }
        // Linux has them in a module of their own.
        switch String(reflecting: type) {
        case "Foundation.Date", "FoundationEssentials.Date": self = .date
        case "Foundation.UUID", "FoundationEssentials.UUID": self = .uuid
        default: return nil
        }
    }

    /// The kinds of the types that were met, since to find one out takes its time.
    struct Known {
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

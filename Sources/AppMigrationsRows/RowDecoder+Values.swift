internal import AppMigrationsSQLite

extension RowDecoder {
    func bool(at column: Int) throws(SQLError) -> Bool {
        switch statement.integer(at: column) {
        case 0: return false
        case 1: return true
        default: throw try misfit(column, "Bool")
        }
    }

    func int(at column: Int) throws(SQLError) -> Int {
        guard let integer = statement.integer(at: column), let value = Int(exactly: integer) else {
            throw try misfit(column, "Int")
        }
        return value
    }

    func int64(at column: Int) throws(SQLError) -> Int64 {
        guard let value = statement.integer(at: column) else { throw try misfit(column, "Int64") }
        return value
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at column: Int) throws(SQLError) -> Value {
        guard let integer = statement.integer(at: column), let value = Value(exactly: integer) else {
            throw try misfit(column, "\(type)")
        }
        return value
    }

    func double(at column: Int) throws(SQLError) -> Double {
        guard let value = statement.real(at: column) else { throw try misfit(column, "Double") }
        return value
    }

    func float(at column: Int) throws(SQLError) -> Float {
        guard let double = statement.real(at: column) else { throw try misfit(column, "Float") }
        guard let value = Float(exactly: double) else { throw try misfit(column, "Float", RoundedNumber()) }
        return value
    }

    func string(at column: Int) throws(SQLError) -> String {
        guard let value = try statement.string(at: column) else { throw try misfit(column, "String") }
        return value
    }

    /// A value of any other type.
    func value<Value: Decodable>(_ type: Value.Type, at column: Int) throws(SQLError) -> Value {
        let kind = kind(of: type)
        if case .bytes(let bytes) = kind {
            guard case .blob(let blob) = try statement.value(at: column),
                let value = Self.collection(bytes, blob) as? Value
            else { throw try misfit(column, "\(type)") }
            return value
        }
        do {
            return try type.init(from: CellDecoder(row: self, column: column, kind: kind))
        } catch let error as SQLError {
            throw error
        } catch {
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
            case .text(let text): try dates().secondsSince1970(text)
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

/// A number has more digits than its type.
struct RoundedNumber: Error, CustomStringConvertible {
    var description: String { "it would be rounded; read a Double" }
}

/// A type asked a column for names or for a list.
struct SeveralValues: Error, CustomStringConvertible {
    var description: String { "it is made of several values, and a column has one" }
}

internal import AppMigrationsSQL

extension RowDecoder {
    /// Reads a value with the conversions of `SQLValue.value(as:)`.
    func simpleValue<Value: SQLReadable>(at column: Int) throws(SQLError) -> Value {
        let value = Value.reading(try statement.value(at: column))
        guard let value else { throw try misfit(at: column, for: "\(Value.self)") }
        return value
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at column: Int) throws(SQLError) -> Value {
        let integer = Int64.reading(try statement.value(at: column))
        guard let integer, let value = Value(exactly: integer) else {
            throw try misfit(at: column, for: "\(type)")
        }
        return value
    }

    func float(at column: Int) throws(SQLError) -> Float {
        let double = Double.reading(try statement.value(at: column))
        guard let double else { throw try misfit(at: column, for: "Float") }
        guard let value = Float(exactly: double) else {
            throw try misfit(at: column, for: "Float", cause: Misfit.rounded)
        }
        return value
    }

    /// Reads a value of a type that is not a number, a string or a Bool, such as bytes, a date or an enum.
    func value<Value: Decodable>(_ type: Value.Type, at column: Int) throws(SQLError) -> Value {
        let kind = kinds[type]
        if case .bytes(let bytes) = kind {
            guard case .blob(let blob) = try statement.value(at: column),
                let value = Self.collection(of: bytes, containing: blob) as? Value
            else { throw try misfit(at: column, for: "\(type)") }
            return value
        }
        do { return try type.init(from: CellDecoder(row: self, column: column, kind: kind)) } catch {
            if let error = error as? SQLError { throw error }
            throw try misfit(at: column, for: "\(type)", cause: error)
        }
    }

    private static func collection<Bytes: RangeReplaceableCollection<UInt8>>(
        of type: Bytes.Type,
        containing bytes: [UInt8]
    ) -> any RangeReplaceableCollection<UInt8> { Bytes(bytes) }

    /// The seconds since 2001, from which a `Date` decodes itself.
    func date(at column: Int) throws(SQLError) -> Double {
        let seconds: Double? =
            switch try statement.value(at: column) {
            case .integer(let value): Double(exactly: value)
            case .real(let value): value
            case .text(let text): try dates.get().secondsSince1970(text)
            case .null, .blob: nil
            }
        guard let seconds else { throw try misfit(at: column, for: "Date") }
        return seconds - DateText.from1970To2001
    }

    /// The text from which a `UUID` decodes itself.
    ///
    /// The column may contain this text, or a blob of 16 bytes.
    func uuid(at column: Int) throws(SQLError) -> String {
        switch try statement.value(at: column) {
        case .text(let text): return text
        case .blob(let bytes) where bytes.count == 16:
            let digits = bytes.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)) }
            return [digits[..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10...]]
                .map { $0.joined() }.joined(separator: "-")
        default: throw try misfit(at: column, for: "UUID")
        }
    }
}

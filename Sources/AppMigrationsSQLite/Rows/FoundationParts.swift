/// The parts that a `URL` or a `Decimal` of Foundation reads and writes, made from the text in a column.
struct FoundationParts {
    private(set) var texts: [String: String] = [:]
    private(set) var numbers: [String: Int] = [:]
    /// Sixteen bits each, the lowest first.
    private(set) var mantissa: [UInt16] = []

    init(relative text: String) { texts["relative"] = text }

    /// `nil` for a text that is no number, or one that a `Decimal` can't hold: 128 bits, and an exponent of
    /// 8 bits.
    init?(decimal text: String) {
        var digits = Substring(text)
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits = digits.dropFirst() }
        var exponent = 0
        if let mark = digits.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            guard let written = Int(digits[digits.index(after: mark)...]), abs(written) < 1_000 else {
                return nil
            }
            exponent = written
            digits = digits[..<mark]
        }
        var value = Mantissa()
        var zeros = 0
        var hasDigit = false
        var isFraction = false
        for character in digits.utf8 {
            if character == UInt8(ascii: "."), !isFraction {
                isFraction = true
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
            hasDigit = true
            if isFraction { exponent -= 1 }
            if character == UInt8(ascii: "0") {
                zeros += 1
                continue
            }
            // Zeros count once another digit follows them; the ones at the end belong to the exponent.
            for _ in 0..<(value.isZero ? 0 : zeros) where !value.append(0) { return nil }
            zeros = 0
            if !value.append(character - UInt8(ascii: "0")) { return nil }
        }
        exponent = value.isZero ? 0 : exponent + zeros
        while exponent > 127, value.append(0) { exponent -= 1 }
        guard hasDigit, (-128...127).contains(exponent) else { return nil }
        mantissa = value.units
        let length = 8 - mantissa.reversed().prefix { $0 == 0 }.count
        numbers = [
            "exponent": exponent, "length": length, "isNegative": isNegative && !value.isZero ? 1 : 0,
            "isCompact": 1,
        ]
    }
}

/// A number of 128 bits, written digit by digit.
///
/// The standard library has `UInt128` from macOS 15 and iOS 18 on.
private struct Mantissa {
    /// Sixteen bits each, the lowest first.
    private(set) var units = [UInt16](repeating: 0, count: 8)

    var isZero: Bool { units.allSatisfy { $0 == 0 } }

    /// Puts a digit behind those there are; `false`, and nothing is changed, where there is no room for it.
    mutating func append(_ digit: UInt8) -> Bool {
        var longer = units
        var rest = UInt32(digit)
        for index in longer.indices {
            rest += UInt32(longer[index]) * 10
            longer[index] = UInt16(truncatingIfNeeded: rest)
            rest >>= 16
        }
        if rest == 0 { units = longer }
        return rest == 0
    }
}

/// The parts, by the keys of the type.
struct PartsByKey<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let parts: FoundationParts

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        parts.texts[key.stringValue] != nil || parts.numbers[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        guard let text = parts.texts[key.stringValue] else { throw SeveralValues() }
        return text
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try number(key) != 0 }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let value = Value(exactly: try number(key)) else { throw SeveralValues() }
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        throw SeveralValues()
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw SeveralValues() }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        PartsInOrder(numbers: parts.mantissa)
    }

    func superDecoder() throws -> any Decoder { throw SeveralValues() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw SeveralValues() }

    private func number(_ key: Key) throws -> Int {
        guard let number = parts.numbers[key.stringValue] else { throw SeveralValues() }
        return number
    }
}

/// The mantissa of a `Decimal`.
struct PartsInOrder: UnkeyedDecodingContainer {
    let numbers: [UInt16]

    var codingPath: [any CodingKey] { [] }
    var count: Int? { numbers.count }
    var currentIndex = 0
    var isAtEnd: Bool { currentIndex == numbers.count }

    init(numbers: [UInt16]) { self.numbers = numbers }

    func decodeNil() -> Bool { false }

    mutating func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        guard !isAtEnd, let value = Value(exactly: numbers[currentIndex]) else { throw SeveralValues() }
        currentIndex += 1
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw SeveralValues() }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<
        Nested
    > {
        throw SeveralValues()
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw SeveralValues() }
    func superDecoder() throws -> any Decoder { throw SeveralValues() }
}

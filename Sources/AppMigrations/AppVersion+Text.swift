extension AppVersion: LosslessStringConvertible {
    /// The version as it was written, without leading zeros: `1.0.0` stays `1.0.0`, `2024.01` gives `2024.1`.
    public var description: String {
        var text = ""
        for component in releaseComponents {
            text += text.isEmpty ? String(component) : ".\(component)"
        }
        for _ in 0..<trailingZeros { text += text.isEmpty ? "0" : ".0" }
        if let subNumber { text += "-\(subNumber)" }
        return text
    }

    /// Reads a version, or gives `nil` where ``init(parsing:)`` says what is wrong.
    public init?(_ description: String) {
        switch Self.read(description) {
        case .version(let version): self = version
        case .problem: return nil
        }
    }

    /// Reads a version such as `1.4` or `1.1-2`.
    ///
    /// - Parameter text: One or more components of ASCII digits divided by dots, then at most one hyphen and
    ///   sub-number. Nothing else: no spaces, no `v`, no `-beta`, no `+5`.
    /// - Throws: ``MigrationError`` with the code ``MigrationError/Code/invalidVersion``, which says what is
    ///   wrong, at which character, and what the grammar is.
    public init(parsing text: some StringProtocol) throws(MigrationError) {
        let text = String(text)
        switch Self.read(text) {
        case .version(let version): self = version
        case .problem(let problem): throw .invalidVersion(text, problem)
        }
    }

    @inline(__always)
    static func read(_ text: String) -> Reading {
        var text = text
        return text.withUTF8 { Self.read($0) }
    }
}

extension AppVersion {
    enum Reading {
        case version(AppVersion)
        case problem(TextProblem)
    }

    /// What is wrong with a version's text, at which byte of it.
    struct TextProblem: Error, Equatable {
        enum Kind { case empty, digitExpected, unexpectedCharacter, secondSubNumber, tooLarge }
        let kind: Kind
        let offset: Int
    }

    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Reading {
        switch ShortReading(bytes) {
        case .version(let version): .version(AppVersion(version))
        case .problem(let problem): .problem(problem)
        case .tooLong: readLong(bytes)
        }
    }

    @inline(never)
    private static func readLong(_ bytes: UnsafeBufferPointer<UInt8>) -> Reading {
        var key: [UInt8] = []
        key.reserveCapacity(bytes.count)
        var scan = VersionScan()
        if let problem = scan.read(bytes, into: &key) { return .problem(problem) }
        return .version(AppVersion(key, trailingZeros: scan.zeros, hasSubNumber: scan.hasSubNumber))
    }

    /// What a text turned out to be, as long as its key is short.
    enum ShortReading {
        case version(ShortVersion)
        case problem(TextProblem)
        case tooLong

        // In one place of the program: a start meets it at the state's versions, the app's and every declared one.
        @inline(never)
        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            var key = ShortKey()
            var scan = VersionScan()
            if let problem = scan.read(bytes, into: &key) {
                self = .problem(problem)
            } else if key.isOverfull {
                self = .tooLong
            } else {
                self = .version(
                    ShortVersion(
                        head: key.head,
                        trailingZeros: UInt32(clamping: scan.zeros),
                        hasSubNumber: scan.hasSubNumber
                    )
                )
            }
        }

        @inline(__always)
        init(_ text: String) {
            var text = text
            self = text.withUTF8 { ShortReading($0) }
        }
    }
}

/// Reads a version's text by its grammar.
private struct VersionScan {
    private(set) var zeros = 0
    private(set) var hasSubNumber = false

    @inline(__always)
    mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into key: inout some VersionKey
    ) -> AppVersion.TextProblem? {
        var index = 0
        let end = bytes.count
        while true {
            let start = index
            var value: UInt64 = 0
            while index < end {
                let digit = UInt64(bytes[index] &- 0x30)
                if digit > 9 { break }
                // Nineteen digits can't overflow; the twentieth and any after leading zeros are asked.
                if index &- start < 19 {
                    value = value &* 10 &+ digit
                } else {
                    let (tenfold, overTen) = value.multipliedReportingOverflow(by: 10)
                    let (sum, overSum) = tenfold.addingReportingOverflow(digit)
                    if overTen || overSum { return AppVersion.TextProblem(kind: .tooLarge, offset: start) }
                    value = sum
                }
                index &+= 1
            }
            if index == start {
                return AppVersion.TextProblem(kind: end == 0 ? .empty : .digitExpected, offset: index)
            }
            append(value, to: &key)
            if index == end || key.isOverfull { return nil }
            switch bytes[index] {
            case 0x2E where !hasSubNumber: break
            case 0x2D where !hasSubNumber:
                hasSubNumber = true
                key.appendSubNumberMark()
            case 0x2D: return AppVersion.TextProblem(kind: .secondSubNumber, offset: index)
            default: return AppVersion.TextProblem(kind: .unexpectedCharacter, offset: index)
            }
            index &+= 1
        }
    }

    /// Zeros at the release's end don't count, so they wait for what comes after them.
    @inline(__always)
    private mutating func append(_ value: UInt64, to key: inout some VersionKey) {
        if value == 0, !hasSubNumber {
            zeros &+= 1
            return
        }
        while zeros > 0, !hasSubNumber {
            key.append(component: 0)
            zeros &-= 1
        }
        key.append(component: value)
    }
}

extension AppVersion {
    /// The release's components without the zeros at its end.
    var releaseComponents: [UInt64] { decoded.release }

    var subNumber: UInt64? { decoded.subNumber }

    private var decoded: (release: [UInt64], subNumber: UInt64?) {
        var bytes: [UInt8] = []
        bytes.append(head, count: ShortKey.capacity)
        bytes += rest
        var release: [UInt64] = []
        var subNumber: UInt64?
        var isSubNumber = false
        var index = 0
        while index < bytes.count, bytes[index] != 0 {
            let lead = UInt64(bytes[index])
            index += 1
            if bytes[index - 1] == ShortKey.subNumberMark {
                isSubNumber = true
                continue
            }
            var value: UInt64 = 0
            if lead < ShortKey.lengthBase + 1 {
                value = lead - ShortKey.smallest
            } else {
                for _ in 0..<(lead - ShortKey.lengthBase) {
                    value = value << 8 | UInt64(bytes[index])
                    index += 1
                }
            }
            if isSubNumber { subNumber = value } else { release.append(value) }
        }
        return (release, subNumber)
    }
}

extension AppVersion: Codable {
    /// Reads the version from one string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(parsing: text)
        } catch {
            let context = DecodingError.Context(
                codingPath: container.codingPath,
                debugDescription: error.description,
                underlyingError: error
            )
            throw DecodingError.dataCorrupted(context)
        }
    }

    /// Writes the version as one string, its ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

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
        let usual = UsualVersion.read(description)
        if !usual.isNone {
            self.init(usual)
        } else if case .version(let version) = Self.read(description) {
            self = version
        } else {
            return nil
        }
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

    @inline(never)
    static func readClosely(_ bytes: UnsafeBufferPointer<UInt8>) -> Reading {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { buffer in
            var writer = VersionKeyWriter(buffer)
            var scan = VersionScan()
            if let problem = scan.read(bytes, into: &writer) { return .problem(problem) }
            let tail = VersionTail(zeros: scan.zeros, hasSubNumber: scan.hasSubNumber)
            return .version(AppVersion(writer.key, tail))
        }
    }
}

extension AppVersion {
    /// The release's components without the zeros at its end.
    var releaseComponents: [UInt64] { decoded.release }

    var subNumber: UInt64? { decoded.subNumber }

    private var decoded: (release: [UInt64], subNumber: UInt64?) {
        var bytes: [UInt8] = []
        for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: head &>> UInt64(56 - 8 * index))) }
        bytes += rest
        var release: [UInt64] = []
        var subNumber: UInt64?
        var isSubNumber = false
        var index = 0
        while index < bytes.count, bytes[index] != 0 {
            let lead = UInt64(bytes[index])
            index += 1
            if bytes[index - 1] == VersionKey.subNumberMark {
                isSubNumber = true
                continue
            }
            var value: UInt64 = 0
            if lead < VersionKey.lengthBase + 1 {
                value = lead - VersionKey.smallest
            } else {
                for _ in 0..<(lead - VersionKey.lengthBase) {
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

extension AppVersion.TextProblem {
    /// What is wrong with `text`, and what the grammar is.
    func description(of text: String) -> Message {
        let grammar: Message =
            "A version is numbers divided by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2."
        let subject: Message = "The version \(text.quoted) can't be read"
        let reason: Message =
            switch kind {
            case .empty: "it is empty"
            case .digitExpected: "a digit is missing at character \(offset + 1)"
            case .unexpectedCharacter:
                "character \(offset + 1) is not a digit, a dot or a hyphen that may stand there"
            case .secondSubNumber: "character \(offset + 1) begins a second sub-number"
            case .tooLarge: "the number at character \(offset + 1) is over \(UInt64.max)"
            }
        return "\(subject): \(reason). \(grammar)"
    }
}

extension Message.Interpolation {
    @inline(never)
    package mutating func appendInterpolation(_ version: AppVersion) {
        appendInterpolation(version.description)
    }
}

extension UsualVersion {
    /// Reads what nearly every version is: one whose key fits eight bytes; gives none for any other text.
    ///
    /// Each declared version costs a start such a reading. Why a text can't be read, says ``VersionScan``, which reads
    /// everything. In one place of the program: a start meets it at the state's versions, the app's and the declared ones.
    @inline(never)
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> UsualVersion {
        let none = UsualVersion(key: 0, tail: .none)
        // No number of 19 digits overflows.
        guard bytes.count <= 19 else { return none }
        var key: UInt64 = 0
        // The key up to the last component that isn't zero, and how far the last byte of each was moved up.
        var significant: UInt64 = 0
        var position: UInt64 = 56
        var significantPosition: UInt64 = 56
        var zeros = 0
        var hasSubNumber = false
        var index = 0
        while index < bytes.count {
            var value = UInt64(bytes[index] &- 0x30)
            if value > 9 { return none }
            index &+= 1
            while index < bytes.count {
                let digit = UInt64(bytes[index] &- 0x30)
                if digit > 9 { break }
                value = value &* 10 &+ digit
                index &+= 1
            }
            if value < VersionKey.firstLong {
                key |= (value &+ VersionKey.smallest) &<< position
            } else {
                let length = UInt64(truncatingIfNeeded: VersionKey.length(value))
                guard position >= 8 &* length else { return none }
                position &-= 8 &* length
                key |= ((VersionKey.lengthBase &+ length) &<< (8 &* length) | value) &<< position
            }
            if value != 0 || hasSubNumber {
                significant = key
                significantPosition = position
                if !hasSubNumber { zeros = 0 }
            } else {
                zeros &+= 1
            }
            if index == bytes.count {
                return UsualVersion(
                    key: significant,
                    tail: VersionTail(zeros: zeros, hasSubNumber: hasSubNumber)
                )
            }
            if hasSubNumber { return none }
            if bytes[index] == 0x2D {
                hasSubNumber = true
                key = significant
                position = significantPosition
                if significant != 0 {
                    if position == 0 { return none }
                    position &-= 8
                }
                key |= UInt64(VersionKey.subNumberMark) &<< position
            } else if bytes[index] != 0x2E {
                return none
            }
            if position == 0 { return none }
            position &-= 8
            index &+= 1
        }
        return none
    }

    @inline(__always)
    static func read(_ text: String) -> UsualVersion {
        // Without a copy of the string, which would be counted; one that is bridged from elsewhere is read closely.
        var version = UsualVersion(key: 0, tail: .none)
        _ = text.utf8.withContiguousStorageIfAvailable { version = read($0) }
        return version
    }
}

// Here and not beside the rest of ``AppVersion``, since a start reads the app's version: see ``UsualVersion``.
extension AppVersion {
    @inline(never)
    static func read(_ text: String) -> Reading {
        var text = text
        return text.withUTF8 { Self.read($0) }
    }

    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Reading {
        let usual = UsualVersion.read(bytes)
        return usual.isNone ? readClosely(bytes) : .version(AppVersion(usual))
    }
}

/// Reads a version's text by its grammar.
struct VersionScan {
    private(set) var zeros = 0
    private(set) var hasSubNumber = false

    @inline(__always)
    mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into key: inout VersionKeyWriter
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
            if index == end { return nil }
            switch bytes[index] {
            case 0x2E where !hasSubNumber: break
            case 0x2D where !hasSubNumber:
                hasSubNumber = true
                key.append(VersionKey.subNumberMark)
            case 0x2D: return AppVersion.TextProblem(kind: .secondSubNumber, offset: index)
            default: return AppVersion.TextProblem(kind: .unexpectedCharacter, offset: index)
            }
            index &+= 1
        }
    }

    /// Zeros at the release's end don't count, so they wait for what comes after them.
    @inline(__always)
    private mutating func append(_ value: UInt64, to key: inout VersionKeyWriter) {
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

extension AppVersion {
    /// What a text turned out to be, as long as its key is short.
    enum ShortReading {
        case version(ShortVersion)
        case problem(TextProblem)
        case tooLong

        // In one place of the program: a start meets it at the state's versions, the app's and every declared one.
        @inline(never)
        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            var usual = UsualVersionScan()
            if usual.read(bytes) {
                self = .version(usual.version)
            } else {
                self.init(closely: bytes)
            }
        }

        @inline(never)
        private init(closely bytes: UnsafeBufferPointer<UInt8>) {
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

/// Reads what nearly every version is: components below 65,536 whose key fits eight bytes.
///
/// Each declared version costs a start such a reading. It only says that it can't read a text; why, says
/// `VersionScan`, which reads everything.
private struct UsualVersionScan {
    // The key's bytes from the upper end on, up to the last component that isn't zero.
    private var significant: UInt64 = 0
    private var zeros: UInt32 = 0
    private var hasSubNumber = false

    @inline(__always)
    var version: ShortVersion {
        ShortVersion(head: UInt128(significant) &<< 64, trailingZeros: zeros, hasSubNumber: hasSubNumber)
    }

    @inline(__always)
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // No number of 19 digits overflows.
        guard bytes.count <= 19 else { return false }
        var key: UInt64 = 0
        // How far a component's last byte is moved up: this one's, and that of the last one which isn't zero.
        var position: UInt64 = 56
        var significantPosition: UInt64 = 56
        var index = 0
        while index < bytes.count {
            var value = UInt64(bytes[index] &- 0x30)
            if value > 9 { return false }
            index &+= 1
            while index < bytes.count {
                let digit = UInt64(bytes[index] &- 0x30)
                if digit > 9 { break }
                value = value &* 10 &+ digit
                index &+= 1
            }
            if value < ShortKey.firstLong {
                key |= (value &+ ShortKey.smallest) &<< position
            } else {
                let length: UInt64 = value < 0x100 ? 1 : 2
                guard value <= 0xFFFF, position >= 8 &* length else { return false }
                position &-= 8 &* length
                key |= ((ShortKey.lengthBase &+ length) &<< (8 &* length) | value) &<< position
            }
            if value != 0 || hasSubNumber {
                significant = key
                significantPosition = position
                if !hasSubNumber { zeros = 0 }
            } else {
                zeros &+= 1
            }
            if index == bytes.count { return true }
            if hasSubNumber { return false }
            if bytes[index] == 0x2D {
                hasSubNumber = true
                key = significant
                position = significantPosition
                if significant != 0 {
                    if position == 0 { return false }
                    position &-= 8
                }
                key |= UInt64(ShortKey.subNumberMark) &<< position
            } else if bytes[index] != 0x2E {
                return false
            }
            if position == 0 { return false }
            position &-= 8
            index &+= 1
        }
        return false
    }
}

/// Reads a version's text by its grammar.
struct VersionScan {
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

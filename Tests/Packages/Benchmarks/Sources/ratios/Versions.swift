import AppMigrations
import Measuring

/// Versions as an app writes them by hand: the numbers in an array, compared one by one, missing ones as zero, and the
/// sub-number last.
struct PlainVersion {
    private(set) var numbers: [UInt64] = []
    private(set) var subNumber: UInt64?

    init?(_ text: String) {
        var number: UInt64 = 0
        var hasDigit = false
        var isSubNumber = false
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39:
                let (tenfold, overTen) = number.multipliedReportingOverflow(by: 10)
                let (sum, overSum) = tenfold.addingReportingOverflow(UInt64(byte - 0x30))
                if overTen || overSum { return nil }
                number = sum
                hasDigit = true
            case 0x2E, 0x2D:
                guard hasDigit, !isSubNumber else { return nil }
                numbers.append(number)
                isSubNumber = byte == 0x2D
                number = 0
                hasDigit = false
            default: return nil
            }
        }
        guard hasDigit else { return nil }
        if isSubNumber { subNumber = number } else { numbers.append(number) }
    }

    static func < (left: PlainVersion, right: PlainVersion) -> Bool {
        for index in 0..<max(left.numbers.count, right.numbers.count) {
            let first = index < left.numbers.count ? left.numbers[index] : 0
            let second = index < right.numbers.count ? right.numbers[index] : 0
            if first != second { return first < second }
        }
        guard let second = right.subNumber else { return false }
        guard let first = left.subNumber else { return true }
        return first < second
    }
}

let mixedVersions = [
    "1.0", "1.1-2", "2024.11.3", "3.2.5", "10.0.1", "1.4", "2.0.3.9.6", "0.9", "7", "12.4.300",
]

/// Reads each version and compares it with the one read before it, round after round; how often it was the later one.
func rises<Version>(
    _ rounds: Int,
    _ first: Version,
    _ read: (String) -> Version?,
    _ precedes: (Version, Version) -> Bool
) -> Int {
    let texts = mixedVersions
    var previous = first
    var rises = 0
    for _ in 0..<rounds {
        for text in texts {
            guard let version = read(text) else { return -1 }
            if precedes(previous, version) { rises += 1 }
            previous = version
        }
    }
    return rises
}

@inline(never)
func risesPlainly(_ rounds: Int) -> Int {
    guard let first = PlainVersion("0") else { return -1 }
    return rises(rounds, first, { PlainVersion($0) }, { $0 < $1 })
}

@inline(never)
func risesOfOurs(_ rounds: Int) -> Int {
    guard let first = AppVersion("0") else { return -1 }
    return rises(rounds, first, { AppVersion($0) }, { $0 < $1 })
}

/// The nanoseconds to read a version of so many components and to compare it with another that is equal to it.
func parseAndCompareLong(components: Int) -> Double {
    let text = Array(repeating: "12", count: components).joined(separator: ".")
    guard let other = AppVersion(text) else { return .infinity }
    let rounds = 200
    var equal = 0
    let time = nanoseconds {
        for _ in 0..<rounds {
            if let version = AppVersion(text), !(version < other), version == other { equal += 1 }
        }
    }
    return equal == rounds ? time / Double(rounds) : .infinity
}

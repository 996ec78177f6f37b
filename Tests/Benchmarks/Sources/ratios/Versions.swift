import AppMigrations

/// What an app writes by hand for versions: the numbers in an array, compared one by one.
struct PlainVersion {
    let numbers: [UInt64]

    init?(_ text: String) {
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        var hasDigit = false
        for byte in text.utf8 {
            if byte == 0x2E || byte == 0x2D {
                guard hasDigit else { return nil }
                numbers.append(number)
                number = 0
                hasDigit = false
            } else {
                guard (0x30...0x39).contains(byte) else { return nil }
                number = number * 10 + UInt64(byte - 0x30)
                hasDigit = true
            }
        }
        guard hasDigit else { return nil }
        numbers.append(number)
        self.numbers = numbers
    }

    static func < (left: PlainVersion, right: PlainVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}

let mixedVersions = [
    "1.0", "1.1-2", "2024.11.3", "3.2.5", "10.0.1", "1.4", "2.0.3.9.6", "0.9", "7", "12.4.300",
]

func parseAndComparePlain(_ rounds: Int) -> Int {
    var rising = 0
    for round in 0..<rounds {
        let index = round % (mixedVersions.count - 1)
        guard let left = PlainVersion(mixedVersions[index]),
            let right = PlainVersion(mixedVersions[index + 1])
        else {
            return -1
        }
        if left < right { rising += 1 }
    }
    return rising
}

func parseAndCompare(_ rounds: Int) -> Int {
    var rising = 0
    for round in 0..<rounds {
        let index = round % (mixedVersions.count - 1)
        guard let left = AppVersion(mixedVersions[index]), let right = AppVersion(mixedVersions[index + 1])
        else {
            return -1
        }
        if left < right { rising += 1 }
    }
    return rising
}

func parseAndCompareLong(components: Int) -> Double {
    let text = Array(repeating: "12", count: components).joined(separator: ".")
    let rounds = 200
    var equal = 0
    let time = nanoseconds {
        for _ in 0..<rounds {
            if let left = AppVersion(text), let right = AppVersion(text), left == right { equal += 1 }
        }
    }
    return equal == rounds ? time / Double(rounds) / 2 : .infinity
}

import AppMigrations
import Testing

/// The order of versions against a slow and obvious one.
struct AppVersionOrderTests {
    private struct Reference {
        var components: [UInt64]
        var subNumber: UInt64?
        var padding: [Int]

        var text: String {
            let numbers = zip(components, padding).map { String(repeating: "0", count: $1) + String($0) }
            return numbers.joined(separator: ".") + (subNumber.map { "-\($0)" } ?? "")
        }

        var description: String {
            components.map(String.init).joined(separator: ".") + (subNumber.map { "-\($0)" } ?? "")
        }

        /// Below zero, zero or above, as `self` lies before, at or after `other`.
        func compared(to other: Reference) -> Int {
            for index in 0..<max(components.count, other.components.count) {
                let mine = index < components.count ? components[index] : 0
                let others = index < other.components.count ? other.components[index] : 0
                if mine != others { return mine < others ? -1 : 1 }
            }
            switch (subNumber, other.subNumber) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let mine?, let others?): return mine == others ? 0 : mine < others ? -1 : 1
            }
        }
    }

    @Test func `order, equality, hash and text are those of a slow reference`() throws {
        var generator = SeededGenerator(seed: 20_261_121)
        var equals = 0
        for round in 0..<110_000 {
            let left = Self.random(&generator)
            let right =
                generator.hits(oneIn: 3) ? Self.random(&generator) : Self.neighbour(of: left, &generator)
            guard let first = AppVersion(left.text), let second = AppVersion(right.text) else {
                Issue.record("Round \(round): \(left.text) or \(right.text) is refused")
                return
            }
            let expected = left.compared(to: right)
            equals += expected == 0 ? 1 : 0
            let isRight =
                (first < second) == (expected < 0) && (second < first) == (expected > 0)
                && (first == second) == (expected == 0)
                && (expected != 0 || first.hashValue == second.hashValue)
                && first.description == left.description
            guard isRight else {
                Issue.record("Round \(round): \(left.text) and \(right.text), expected \(expected)")
                return
            }
        }
        #expect(equals > 10_000, "The pairs must meet often enough to say something of equality and hash.")
    }

    private static func random(_ generator: inout SeededGenerator) -> Reference {
        let components = (0...Int.random(in: 0...8, using: &generator)).map { _ in number(&generator) }
        return Reference(
            components: components,
            subNumber: generator.hits(oneIn: 3) ? number(&generator) : nil,
            padding: components.map { _ in generator.hits(oneIn: 8) ? 3 : 0 }
        )
    }

    private static func number(_ generator: inout SeededGenerator) -> UInt64 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1: 0
        case 2, 3: UInt64.random(in: 0...12, using: &generator)
        case 4: UInt64.random(in: 236...260, using: &generator)
        case 5: UInt64.random(in: 65_530...65_540, using: &generator)
        case 6: UInt64.max - UInt64.random(in: 0...2, using: &generator)
        default:
            UInt64.random(in: 0...UInt64.max, using: &generator)
                >> UInt64.random(in: 0..<64, using: &generator)
        }
    }

    /// A version that differs little or not at all.
    private static func neighbour(of version: Reference, _ generator: inout SeededGenerator) -> Reference {
        var next = version
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: next.components.append(0)
        case 1: next.components.append(number(&generator))
        case 2:
            next.components[Int.random(in: next.components.indices, using: &generator)] = number(&generator)
        case 3: next.subNumber = next.subNumber == nil ? number(&generator) : nil
        case 4: next.subNumber = next.subNumber.map { $0 &+ 1 }
        default: if next.components.count > 1 { next.components.removeLast() }
        }
        if next.components.count > 9 { next.components.removeLast(next.components.count - 9) }
        next.padding = next.components.map { _ in generator.hits(oneIn: 8) ? 2 : 0 }
        return next
    }
}

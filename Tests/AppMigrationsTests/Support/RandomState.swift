@testable import AppMigrations

/// States and JSON texts of every shape, the same in every run.
struct RandomState {
    var generator: SeededGenerator

    private static let texts = [
        "", "Library", "a \"quoted\" path", "back\\slash/slash", "tab\tline\nreturn\r",
        "\u{0}\u{1}\u{1F}\u{7F}",
        "naïve", "e\u{301}", "日本語", "🙂👩‍👩‍👧", "\u{2028}\u{2029}", "]}", "{[\",:", "\u{FEFF}bom", "\u{FFFF}",
        "\u{10FFFF}",
    ]

    mutating func text() -> String {
        (0...Int.random(in: 0...2, using: &generator)).map { _ in generator.element(of: Self.texts) }.joined()
    }

    mutating func version() -> AppVersion {
        let components = (0...Int.random(in: 0...3, using: &generator)).map { _ in
            generator.hits(oneIn: 9) ? "\(UInt64.max)" : "\(Int.random(in: 0...300, using: &generator))"
        }
        let subNumber = generator.hits(oneIn: 3) ? "-\(Int.random(in: 0...300, using: &generator))" : ""
        return AppVersion(components.joined(separator: ".") + subNumber) ?? .zero
    }

    mutating func state(named name: String) -> MigrationState {
        let versions = StateVersions(
            lastRun: version(),
            baseline: version(),
            launched: version(),
            freshInstall: generator.hits(oneIn: 3) ? version() : nil,
            minimumAppVersion: generator.hits(oneIn: 2) ? version() : .zero,
            latestAttempt: generator.hits(oneIn: 2) ? latestAttempt() : nil,
            otherAttempts: otherAttempts()
        )
        let rows = (0..<Int.random(in: 0...3, using: &generator)).map { _ in row() }
        let dropped = generator.hits(oneIn: 3) ? version() : .zero
        return MigrationState(
            name: name,
            versions: versions,
            history: History(rows: rows),
            droppedVersion: dropped
        )
    }

    private mutating func otherAttempts() -> [AttemptedMigration] {
        guard generator.hits(oneIn: 2) else { return [] }
        return (0..<Int.random(in: 1...3, using: &generator)).map { _ in attempt() }
    }

    private mutating func latestAttempt() -> LatestAttempt {
        LatestAttempt(
            attempt(),
            at: Int64.random(in: 0...4_000_000_000, using: &generator),
            failure: generator.hits(oneIn: 2) ? text() : nil
        )
    }

    private mutating func checkpoint() -> Checkpoint? {
        guard generator.hits(oneIn: 2) else { return nil }
        let progress = generator.hits(oneIn: 2) ? Double.random(in: 0...1, using: &generator) : nil
        return Checkpoint(text: text(), appVersion: version(), progress: progress)
    }

    private mutating func attempt() -> AttemptedMigration {
        AttemptedMigration(
            version(),
            attemptCount: Int.random(in: 0...99, using: &generator),
            crashCount: Int.random(in: 0...99, using: &generator),
            by: version(),
            checkpoint: checkpoint()
        )
    }

    private mutating func row() -> AppliedMigration {
        AppliedMigration(
            version: version(),
            previousVersion: version(),
            appVersion: version(),
            finishedAt: Int64.random(in: 0...4_000_000_000, using: &generator),
            duration: .nanoseconds(Int64.random(in: 0...4_000_000_000_000, using: &generator) >> 4),
            attemptCount: Int.random(in: 0...999_999, using: &generator)
        )
    }

    /// A state whose numbers and times are what a broken clock or an editor can make of them.
    mutating func extremeState(named name: String) -> MigrationState {
        let state = state(named: name)
        let numbers = [Int.min, -1, 0, 1, 999_999_999, 1_000_000_000, .max]
        let times: [Int64] = [.min, -62_167_219_201, -1, 0, 253_402_300_800, .max]
        func extreme(_ known: AttemptedMigration) -> AttemptedMigration {
            AttemptedMigration(
                known.version,
                attemptCount: generator.element(of: numbers),
                crashCount: generator.element(of: numbers),
                by: known.appVersion,
                checkpoint: known.checkpoint
            )
        }
        var versions = state.versions
        versions.latestAttempt = versions.latestAttempt.map {
            LatestAttempt(extreme($0.migration), at: generator.element(of: times), failure: $0.failure)
        }
        versions.otherAttempts = versions.otherAttempts.map(extreme)
        let rows = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
            AppliedMigration(
                version: version(),
                previousVersion: version(),
                appVersion: version(),
                finishedAt: generator.element(of: times),
                duration: .seconds(generator.element(of: times))
                    + .nanoseconds(generator.element(of: [0, 1, -1])),
                attemptCount: generator.element(of: numbers)
            )
        }
        return MigrationState(name: name, versions: versions, history: History(rows: rows))
    }

    /// Any JSON value.
    mutating func value(depth: Int = 0) -> String {
        switch Int.random(in: 0..<(depth < 4 ? 9 : 7), using: &generator) {
        case 0: return "null"
        case 1: return "true"
        case 2: return "false"
        case 3:
            return generator.element(of: [
                "0", "-0", "1.5", "-1e9", "1E+2", "0.1e-3", "12345678901234567890123",
            ])
        case 4: return text().quoted
        case 5: return generator.element(of: [#""\u00e9\/\b\f""#, #""\uD83D\uDE00""#, #""\u0000""#])
        case 6: return generator.element(of: ["{}", "[]", "[ ]", "{ }"])
        case 7:
            let members = (0...2).map { "\"\($0)\":\(value(depth: depth + 1))" }
            return "{\(members.joined(separator: ", "))}"
        default: return "[\((0...2).map { _ in value(depth: depth + 1) }.joined(separator: " ,"))]"
        }
    }

    /// The bytes with some of them changed, as a broken disk, editor or program would.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let alphabet = Array(#"{}[]":,.-+\/0123456789eEuntrfalse "#.utf8) + [0, 0x0A, 0x80, 0xC3, 0xFF]
        for _ in 0...Int.random(in: 0...1, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[index] = generator.element(of: alphabet)
            case 1: bytes.insert(generator.element(of: alphabet), at: index)
            case 2: bytes.remove(at: index)
            case 3: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 4: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 40)], at: index)
            default: if generator.hits(oneIn: 4) { bytes.removeLast(bytes.count - index) }
            }
        }
        return bytes
    }
}

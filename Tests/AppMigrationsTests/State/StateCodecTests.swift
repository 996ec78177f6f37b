import Foundation
import Testing

@testable import AppMigrations

/// Our reader and writer of JSON against Foundation's.
struct StateCodecTests {
    private static let name = "Li/b \"r\" é\n🙂"

    private static func read(_ bytes: [UInt8]) -> MigrationState? {
        MigrationState(reading: bytes, name: name)
    }

    /// The difference between our reading of the bytes and Foundation's, or between our two ways.
    private static func complaint(_ bytes: [UInt8], _ decoder: JSONDecoder) -> String? {
        guard let ours = read(bytes) else { return nil }
        // Reading a state doesn't read the rows of its history. Who reads them finds them damaged.
        do throws(JSONError) { _ = try ours.history.rows() } catch { return nil }
        if let versions = StateHead.read(bytes, name: name), versions != ours.versions {
            return "a start reads other versions"
        }
        do {
            let theirs = try decoder.decode(StateOracle.self, from: Data(bytes))
            return try theirs.difference(from: ours).map { "the values differ: \($0)" }
        } catch {
            return "Foundation refuses it: \(error)"
        }
    }

    @Test func `what we write, we and Foundation read with the same values`() {
        var random = RandomState(generator: SeededGenerator(seed: 1))
        let decoder = JSONDecoder()
        for round in 0..<Thoroughness.ordinarily(600, everything: 3_000) {
            let state = random.state(named: Self.name)
            let bytes = state.document
            guard Self.read(bytes) == state, Self.complaint(bytes, decoder) == nil else {
                let complaint = Self.complaint(bytes, decoder) ?? "we don't read it"
                Issue.record("Round \(round): \(complaint) in \(String(decoding: bytes, as: UTF8.self))")
                return
            }
        }
    }

    @Test func `what we write we read again, whatever was counted and clocks said`() {
        var random = RandomState(generator: SeededGenerator(seed: 8))
        for round in 0..<Thoroughness.ordinarily(600, everything: 3_000) {
            let bytes = random.extremeState(named: Self.name).document
            guard let again = Self.read(bytes), Self.read(again.document) == again else {
                Issue.record("Round \(round): \(String(decoding: bytes, as: UTF8.self))")
                return
            }
        }
    }

    @Test func `what Foundation writes, we read with the same values`() throws {
        var random = RandomState(generator: SeededGenerator(seed: 2))
        let encoder = JSONEncoder()
        for round in 0..<Thoroughness.ordinarily(600, everything: 3_000) {
            let state = random.state(named: Self.name)
            encoder.outputFormatting = round.isMultiple(of: 2) ? [.prettyPrinted, .sortedKeys] : []
            var oracle = try StateOracle(state)
            // Foundation leaves out what is nil; we want the key.
            if oracle.latestAttempt?.failure == nil { oracle.latestAttempt?.failure = "none" }
            let bytes = Array(try encoder.encode(oracle))
            guard let ours = Self.read(bytes), try oracle.difference(from: ours) == nil else {
                Issue.record("Round \(round): \(String(decoding: bytes, as: UTF8.self))")
                return
            }
        }
    }

    @Test func `unknown keys of any value are kept byte for byte and in their order, wherever they stand`() {
        var random = RandomState(generator: SeededGenerator(seed: 3))
        let decoder = JSONDecoder()
        for round in 0..<Thoroughness.ordinarily(500, everything: 4_000) {
            let state = random.state(named: Self.name)
            var lines = String(decoding: state.document, as: UTF8.self).split(separator: "\n").map(
                String.init
            )
            for index in 0...2 {
                let unknown = "\"unknown\(index)\" : \(random.value()),"
                let places = lines.indices.filter { lines[$0].hasPrefix("  \"") }
                lines.insert(unknown, at: random.generator.element(of: places))
            }
            var text = lines.joined(separator: random.generator.element(of: ["\n", "\r\n\t ", ""]))
            if random.generator.hits(oneIn: 2) {
                text.replace(", \"attemptCount\"", with: ",\"x\":\(random.value()),\"attemptCount\"")
            }
            let bytes = Array(text.utf8)
            let unknown = lines.filter { $0.hasPrefix("\"unknown") }
            var expected = state
            expected.otherMembers = unknown.map { line in
                let key = line.dropFirst().prefix { $0 != "\"" }
                return MigrationState.OtherMember(key: String(key), text: Array(line.dropLast().utf8))
            }
            let ours = Self.read(bytes)
            guard ours == expected, let written = ours?.document, Self.read(written) == expected,
                Self.complaint(bytes, decoder) == nil, Self.complaint(written, decoder) == nil
            else {
                Issue.record(
                    "Round \(round): \(Self.complaint(bytes, decoder) ?? "we don't keep it") in \(text)"
                )
                return
            }
        }
    }

    @Test(arguments: [UInt64(4), 5, 6, 7])
    func `whatever we accept of a broken text, Foundation accepts with the same values`(seed: UInt64) {
        var random = RandomState(generator: SeededGenerator(seed: seed))
        let decoder = JSONDecoder()
        let rounds = Thoroughness.ordinarily(500, everything: 4_000)
        var accepted = 0
        var document: [UInt8] = []
        for round in 0..<rounds {
            if round.isMultiple(of: 8) { document = random.state(named: Self.name).document }
            let bytes = random.mutated(document)
            if let complaint = Self.complaint(bytes, decoder) {
                Issue.record("Round \(round): \(complaint) in \(String(decoding: bytes, as: UTF8.self))")
                return
            }
            if Self.read(bytes) != nil { accepted += 1 }
        }
        #expect(accepted > rounds / 20, "Too few texts stayed readable to say something.")
    }

    /// Ten digits may be more than an integer of 32 bits holds.
    @Test(arguments: [("999999999", true), ("1000000000", false), ("-1", false)])
    func `a count has at most nine digits`(digits: String, isRead: Bool) {
        let text = String(decoding: StateBitFlipTests.state.document, as: UTF8.self)
            .replacing("\"attemptCount\" : 2,", with: "\"attemptCount\" : \(digits),")
        let state = MigrationState(reading: Array(text.utf8), name: "Library")
        #expect((state?.versions.latestAttempt?.migration.attemptCount == 999_999_999) == isRead)
        #expect((state != nil) == isRead)
    }

    @Test(
        arguments: [
            (.zero, "0.0"), (.seconds(12), "12.0"), (.milliseconds(1_500), "1.5"),
            (.nanoseconds(1), "1e-09"),
            (.microseconds(12_300), "0.0123"),
            (.seconds(-4), "0.0"), (.nanoseconds(-1), "0.0"), (.seconds(Int64.min), "0.0"),
            (.seconds(Int64.max), "999999999999.0"), (.seconds(999_999_999_998.5), "999999999998.5"),
        ] as [(Duration, String)]
    )
    func `a duration is decimal seconds`(duration: Duration, text: String) {
        #expect(JSON.seconds(duration) == text)
    }
}

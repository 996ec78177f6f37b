import Foundation
import Testing

@testable import AppMigrations

@Suite struct StateBitFlipTests {
    static let interruption = Interruption(
        AttemptedMigration("1.5", 2, deaths: 1, by: "1.5"),
        isProtecting: true,
        at: 1_795_233_268,
        failure: "it \"failed\"\n"
    )

    static let state = MigrationState(
        name: "Library",
        versions: StateVersions(
            lastRun: version("1.4"),
            baseline: version("1.1"),
            launched: version("1.5"),
            interruption: interruption
        ),
        history: [
            AppliedMigration(
                AttemptedMigration("1.4", by: "1.4"),
                after: version("1.1"),
                at: 1_795_233_268,
                in: .milliseconds(123)
            )
        ]
    )

    /// Every other byte at every offset: the text is refused, or reads as it would by Foundation's reader.
    @Test func `a changed byte is refused or read for what it says`() throws {
        let original = Self.state.document
        var refused = 0
        var read = 0
        for offset in original.indices {
            for bit in 0..<8 {
                var bytes = original
                bytes[offset] ^= 1 << UInt8(bit)
                guard let state = MigrationState(reading: bytes, name: "Library") else {
                    refused += 1
                    continue
                }
                let oracle = try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
                #expect(oracle["lastRunVersion"] as? String == state.versions.lastRun.description)
                #expect(
                    oracle["baseline"] as? String ?? oracle["lastRunVersion"] as? String
                        == state.versions.baseline.description
                )
                let interruption = oracle["interruption"] as? [String: Any]
                #expect(interruption?["isProtecting"] as? Bool == state.versions.interruption?.isProtecting)
                #expect(interruption?["failure"] as? String == state.versions.interruption?.failure)
                read += 1
            }
        }
        #expect(refused > read)
    }

    @Test func `a text that is cut off is refused at every length`() {
        let original = Self.state.document
        for length in 0..<original.count - 1 {
            let state = MigrationState(reading: Array(original[..<length]), name: "Library")
            #expect(state == nil, "\(length)")
        }
    }
}

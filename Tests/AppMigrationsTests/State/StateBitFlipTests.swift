import Foundation
import Testing

@testable import AppMigrations

@Suite struct StateBitFlipTests {
    static let latestAttempt = LatestAttempt(
        AttemptedMigration("1.5", 2, crashCount: 1, by: "1.5"),
        at: 1_795_233_268,
        failure: "it \"failed\"\n"
    )

    static let state = MigrationState(
        name: "Library",
        versions: StateVersions(
            lastRun: version("1.4"),
            baseline: version("1.1"),
            launched: version("1.5"),
            latestAttempt: latestAttempt
        ),
        history: History(rows: [
            AppliedMigration(
                AttemptedMigration("1.4", by: "1.4"),
                after: version("1.1"),
                at: 1_795_233_268,
                in: .milliseconds(123)
            )
        ])
    )

    /// One bit at every offset: the text is refused, or reads as it would by Foundation's reader.
    ///
    /// A start with work doesn't read the rows of the history, so a change there is found by who does.
    @Test func `a changed byte is refused or read for what it says`() throws {
        let original = Self.state.document
        let rows = try #require(original.firstRange(of: Array("\"history\" : [".utf8)))
        var (refused, read) = (0, 0)
        let decoder = JSONDecoder()
        for offset in original.indices {
            for bit in 0..<8 {
                var bytes = original
                bytes[offset] ^= 1 << UInt8(bit)
                guard let state = MigrationState(reading: bytes, name: "Library") else {
                    refused += 1
                    continue
                }
                do throws(JSONError) { _ = try state.history.rows() } catch {
                    #expect(offset >= rows.lowerBound, "\(offset): \(error)")
                    refused += 1
                    continue
                }
                let oracle = try decoder.decode(StateOracle.self, from: Data(bytes))
                #expect(try oracle.difference(from: state) == nil, "\(offset)")
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

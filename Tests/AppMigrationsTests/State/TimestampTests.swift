import Foundation
import Testing

@testable import AppMigrations

struct TimestampTests {
    @Test func `timestamps are those of Foundation from year 0 to 9999`() throws {
        var generator = SeededGenerator(seed: 3)
        let range = Int64(-62_135_596_800)...253_402_300_799
        let edges: [Int64] = [
            0, -1, 86_399, 86_400, 951_782_399, 951_782_400, 951_868_800, 4_107_542_399, 4_107_542_400,
            253_402_300_799,
            -62_135_596_800, 1_763_697_268,
        ]
        for seconds in edges + (0..<5_000).map({ _ in Int64.random(in: range, using: &generator) }) {
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            let text = Timestamp.text(seconds)
            let expected = date.formatted(.iso8601)
            // Before October 1582 the two calendars differ; ours is the proleptic Gregorian one.
            if seconds > -12_219_292_800, text != expected {
                Issue.record("\(seconds): \(text) instead of \(expected)")
                return
            }
            guard Timestamp.read(text) == seconds else {
                Issue.record("\(text) is read as something else than \(seconds)")
                return
            }
        }
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (-62_167_219_200, "0000-01-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] as [(Int64, String)]
    )
    func `known dates are written and read`(seconds: Int64, text: String) {
        #expect(Timestamp.text(seconds) == text)
        #expect(Timestamp.read(text) == seconds)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T03:54:28", "2026-11-21T03:54:28z", "2026-11-21 03:54:28Z",
        "2026-11-21T03:54:60Z",
        "2026-11-21T24:00:00Z", "2026-11-21T23:60:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-04-00T00:00:00Z",
        "2026-11-21T03:54:28.5Z", "2026-11-21T03:54:28+1", "+026-11-21T03:54:28Z", "2026-11-21T03:54:2８",
    ])
    func `anything but a date written exactly so is refused`(text: String) {
        #expect(Timestamp.read(text) == nil)
    }
}

#if MUTATOR
/// Feeds seeded mutations of valid texts, where the toolchain has no libFuzzer.
@main
struct Mutator {
    private var random: UInt64

    private static let alphabet =
        Array("{}[]\":,\\/-.0123456789eE+ \n\tabfnrtu".utf8) + [0, 0x7F, 0x80, 0xC3, 0xED, 0xFF]

    private static let seeds: [String] = [
        """
        { "format" : 1, "name" : "Library", "lastRunVersion" : "1.4", "baseline" : "1.1", "launchedVersion" : "1.4",
          "latestAttempt" : { "version" : "1.5", "attemptCount" : 1, "crashCount" : 0,
            "appVersion" : "1.5", "startedAt" : "2026-11-21T03:54:28Z", "failure" : null,
            "checkpoint" : "row 12 \\u00e9", "checkpointAppVersion" : "1.5", "progress" : 0.25 },
          "otherAttempts" : [ { "version" : "1.6", "attemptCount" : 1, "crashCount" : 0, "appVersion" : "1.5",
            "checkpoint" : "", "checkpointAppVersion" : "1.4", "progress" : 1 } ], "minimumAppVersion" : "1.3", "newer" : { "a" : [ "]}" ] },
          "history" : [ { "version" : "1.2.5", "previousVersion" : "1.1", "appVersion" : "1.4",
            "finishedAt" : "2026-11-21T03:54:28Z", "duration" : 0.0123, "attemptCount" : 1 } ] }
        """,
        """
        {
          "format" : 1,
          "name" : "Library",
          "lastRunVersion" : "1.4",
          "baseline" : "1.1",
          "launchedVersion" : "1.4",
          "minimumAppVersion" : "1.2",
          "history" : []
        }

        """,
        """
        {
          "format" : 1,
          "name" : "Library",
          "lastRunVersion" : "1.4",
          "baseline" : "1.1",
          "launchedVersion" : "1.4",
          "droppedVersion" : "1.2",
          "history" : [
            { "version" : "1.4", "previousVersion" : "1.2", "appVersion" : "1.4", "finishedAt" : "2026-11-21T03:54:28Z", \
        "duration" : 0.5, "attemptCount" : 2 }
          ]
        }

        """,
        #"{"format":1,"name":"Library","lastRunVersion":"1.4","x":[1,-2.5e3,true,null,{"a":"\ud83d\ude00"}],"history":[]}"#,
        "1.4.0-2 1.4-3", "2024.01 2024.1.0", "18446744073709551615.0-240 239.241-0", "1.1-1 1.1.1",
    ]

    static func main() {
        let words = CommandLine.arguments
        let runs = words.count > 1 ? Int(words[1]) ?? 100_000 : 100_000
        var mutator = Mutator(random: words.count > 2 ? UInt64(words[2]) ?? 1 : 1)
        for _ in 0..<runs { mutator.next().withUnsafeBufferPointer { Fuzz.check($0) } }
        print("Done \(runs) runs")
    }

    /// SplitMix64, so that a seed gives the same inputs everywhere.
    private mutating func number(below limit: Int) -> Int {
        random &+= 0x9E37_79B9_7F4A_7C15
        var value = random
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(limit))
    }

    private mutating func next() -> [UInt8] {
        var bytes = Array(Self.seeds[number(below: Self.seeds.count)].utf8)
        for _ in 0...number(below: 4) {
            let index = number(below: bytes.count)
            let byte = Self.alphabet[number(below: Self.alphabet.count)]
            switch number(below: 5) {
            case 0: bytes[index] = byte
            case 1: bytes.insert(byte, at: index)
            case 2 where bytes.count > 1: bytes.remove(at: index)
            case 3: bytes[index] ^= 1 << UInt8(number(below: 8))
            default:
                let end = min(bytes.count, index + number(below: 24))
                bytes.insert(contentsOf: bytes[index..<end], at: number(below: bytes.count))
            }
        }
        return bytes
    }
}
#endif

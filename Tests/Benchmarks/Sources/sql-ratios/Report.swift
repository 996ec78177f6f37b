/// One line for each figure, and whether all of them hold.
struct Report {
    /// In CI only counts gate as they are; ratios get half as much room again, so that noise never fails a build.
    let isCI: Bool
    private(set) var misses = 0

    init(isCI: Bool) { self.isCI = isCI }

    mutating func ratio(_ name: String, _ value: Double, atMost limit: Double) {
        line(name, rounded(value), "≤ \(limit)", value <= (isCI ? limit * 2 : limit))
    }

    mutating func ratio(_ name: String, _ value: Double, atLeast limit: Double) {
        line(name, rounded(value), "≥ \(limit)", value >= (isCI ? limit / 2 : limit))
    }

    mutating func count(_ name: String, _ value: Int, atMost limit: Int) {
        line(name, "\(value)", "≤ \(limit)", value <= limit)
    }

    mutating func count(_ name: String, _ value: Int, exactly expected: Int) {
        line(name, "\(value)", "= \(expected)", value == expected)
    }

    mutating func fail(_ name: String) { line(name, "failed", "to be done", false) }

    private mutating func line(_ name: String, _ value: String, _ limit: String, _ holds: Bool) {
        if !holds { misses += 1 }
        let filler = String(repeating: " ", count: max(1, 68 - name.count))
        print("\(holds ? "ok  " : "FAIL") \(name)\(filler)\(value)  (\(limit))")
    }

    private func rounded(_ value: Double) -> String {
        let scaled = (value * 1_000).rounded() / 1_000
        return "\(scaled)"
    }
}

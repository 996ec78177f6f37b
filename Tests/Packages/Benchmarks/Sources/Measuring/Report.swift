import Foundation

/// One line for each figure, and whether all of them hold.
public struct Report {
    /// In CI counts gate as they are, times gate nothing, and ratios fail at twice their bound.
    ///
    /// Another processor moves a ratio of two programs by half: 145 here was 110 there, and 2.3 was 3.4. What is over its bound
    /// is said to be, with the limit that fails.
    public let isCI: Bool
    private var misses = 0
    private var overs = 0

    /// For a program that is started with `--ci` in CI.
    public init() { isCI = CommandLine.arguments.contains("--ci") }

    public mutating func ratio(_ name: String, _ value: Double, atMost limit: Double) {
        line(name, value, "≤ \(limit)", value <= limit, failing: (limit * 2, value > limit * 2))
    }

    public mutating func ratio(_ name: String, _ value: Double, atLeast limit: Double) {
        line(name, value, "≥ \(limit)", value >= limit, failing: (limit / 2, value < limit / 2))
    }

    /// A ratio of times in which the disk of the machine has its part: in CI it is told and gates nothing.
    public mutating func shaky(_ name: String, _ value: Double, atMost limit: Double) {
        time(name, value, atMost: limit)
    }

    public mutating func time(_ name: String, _ value: Double, atMost limit: Double) {
        line(name, value, "≤ \(limit)", value <= limit, failing: nil)
    }

    public mutating func count(_ name: String, _ value: Int, atMost limit: Int) {
        line(name, "\(value)", "≤ \(limit)", value <= limit)
    }

    public mutating func count(_ name: String, _ value: Int, exactly expected: Int) {
        line(name, "\(value)", "= \(expected)", value == expected)
    }

    /// A figure that no bound is set to.
    public func note(_ name: String, _ value: Int) { write("    ", name, "\(value)") }

    public mutating func fail(_ name: String) { line(name, "failed", "to be done", false) }

    /// Ends the program: with 1 when a figure was missed.
    public func finish() -> Never {
        let over = overs == 0 ? "" : ", \(overs) over a bound that does not fail in CI"
        print((misses == 0 ? "all figures hold" : "\(misses) figures missed") + over)
        exit(misses == 0 ? 0 : 1)
    }

    /// A figure that in CI fails at another limit, or at none.
    private mutating func line(
        _ name: String,
        _ value: Double,
        _ limit: String,
        _ holds: Bool,
        failing: (limit: Double, isOver: Bool)?
    ) {
        let text = "\((value * 1_000).rounded() / 1_000)"
        if holds || !isCI { return line(name, text, limit, holds) }
        let (words, isOver) = failing.map { ("fails at \($0.limit)", $0.isOver) } ?? ("fails at none", false)
        if isOver { return line(name, text, "\(limit), \(words)", false) }
        overs += 1
        write("over", name, "\(text)  (\(limit), \(words))")
    }

    private mutating func line(_ name: String, _ value: String, _ limit: String, _ holds: Bool) {
        if !holds { misses += 1 }
        write(holds ? "ok  " : "FAIL", name, "\(value)  (\(limit))")
    }

    private func write(_ verdict: String, _ name: String, _ text: String) {
        print("\(verdict) \(name)\(String(repeating: " ", count: max(1, 68 - name.count)))\(text)")
    }
}

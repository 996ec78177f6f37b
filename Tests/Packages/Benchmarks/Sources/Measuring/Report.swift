import Foundation

/// One line for each figure, and whether all of them hold.
public struct Report {
    /// In CI counts gate as they are, times gate nothing, and ratios get twice the room.
    ///
    /// Another processor moves a ratio of two programs by half: 145 here was 110 there, and 2.3 was 3.4.
    public let isCI: Bool
    private var misses = 0

    /// For a program that is started with `--ci` in CI.
    public init() { isCI = CommandLine.arguments.contains("--ci") }

    public mutating func ratio(_ name: String, _ value: Double, atMost limit: Double) {
        line(name, rounded(value), "≤ \(limit)", value <= (isCI ? limit * 2 : limit))
    }

    public mutating func ratio(_ name: String, _ value: Double, atLeast limit: Double) {
        line(name, rounded(value), "≥ \(limit)", value >= (isCI ? limit / 2 : limit))
    }

    /// A ratio of times in which the disk of the machine has its part: in CI it is told and gates nothing.
    public mutating func shaky(_ name: String, _ value: Double, atMost limit: Double) {
        line(name, rounded(value), "≤ \(limit)", isCI || value <= limit)
    }

    public mutating func time(_ name: String, _ value: Double, atMost limit: Double) {
        line(name, rounded(value), "≤ \(limit)", isCI || value <= limit)
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
        print(misses == 0 ? "all figures hold" : "\(misses) figures missed")
        exit(misses == 0 ? 0 : 1)
    }

    private mutating func line(_ name: String, _ value: String, _ limit: String, _ holds: Bool) {
        if !holds { misses += 1 }
        write(holds ? "ok  " : "FAIL", name, "\(value)  (\(limit))")
    }

    private func write(_ verdict: String, _ name: String, _ text: String) {
        print("\(verdict) \(name)\(String(repeating: " ", count: max(1, 68 - name.count)))\(text)")
    }

    private func rounded(_ value: Double) -> String { "\((value * 1_000).rounded() / 1_000)" }
}

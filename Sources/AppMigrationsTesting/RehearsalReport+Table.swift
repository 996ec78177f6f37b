import AppMigrations

extension RehearsalReport: CustomStringConvertible {
    /// The table of runs, the first three findings of each in plain words, and what wasn't rehearsed.
    public var description: String {
        var lines = [
            "Rehearsal of \(name) \(currentVersion): \(Self.count(runs.count, "run")), "
                + Self.count(findings.count, "finding")
        ]
        lines += table
        lines += versionFindings.map { "- \($0)" }
        lines += runs.flatMap(Self.shortened)
        if !unrehearsedVersions.isEmpty {
            lines.append(
                "Not rehearsed, for want of a starting point before it: \(Self.list(unrehearsedVersions))"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// The first findings of a run: where one file differs, many can.
    private static func shortened(_ run: RehearsedRun) -> [String] {
        let rest = run.findings.count - 3
        return run.findings.prefix(3).map { "- \($0)" }
            + (rest > 0 ? ["  … and \(rest) more in this run"] : [])
    }

    private var table: [String] {
        guard !runs.isEmpty else { return [] }
        let header = ["start", "run", "app", "ran", "time", "outcome"]
        let rows = [header] + runs.map(Self.cells)
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let line = cells.joined(separator: "  ")
            return String(line[...(line.lastIndex { $0 != " " } ?? line.startIndex)])
        }
    }

    private static func cells(_ run: RehearsedRun) -> [String] {
        let (seconds, attoseconds) = run.duration.components
        let time = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        let outcome = run.findings.isEmpty ? "same" : count(run.findings.count, "finding")
        return [run.start, run.title, list(run.appVersions), list(run.ran), "\(time) ms", outcome]
    }

    private static func list(_ versions: [AppVersion]) -> String {
        versions.isEmpty ? "–" : versions.map(\.description).joined(separator: " ")
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

import AppMigrations

extension RehearsalReport: CustomStringConvertible {
    /// The table of runs, the first three findings of each in plain words, and what wasn't rehearsed or asked.
    public var description: String {
        var lines = [
            "Rehearsal of \(name) \(currentVersion): \(TextTable.count(runs.count, "run")), "
                + TextTable.count(findings.count, "finding")
        ]
        lines += table
        lines += versionFindings.map { "- \($0)" }
        lines += runs.flatMap(Self.shortened)
        if !hasFreshInstall, runs.contains(where: { !$0.ran.isEmpty }) {
            lines.append(
                "Not asked, for want of a freshInstall: does a migration lose something from every starting point?"
            )
        }
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
        let rows = [["start", "run", "app", "ran", "time", "outcome"]] + runs.map(Self.cells)
        let isOfSQL = runs.allSatisfy(\.appVersions.isEmpty)
        return TextTable.lines(isOfSQL ? rows.map { [$0[0]] + $0[3...] } : rows)
    }

    private static func cells(_ run: RehearsedRun) -> [String] {
        [
            run.start, run.title, list(run.appVersions.map(\.description)), list(run.ran),
            TextTable.milliseconds(run.duration), outcome(run),
        ]
    }

    /// An answer stands beside its starting point, since a lower one that does no harm is no finding.
    private static func outcome(_ run: RehearsedRun) -> String {
        let count = run.findings.count
        guard let answer = run.answer else { return TextTable.outcome(count) }
        let text = FirstRunAnswer.text(of: answer)
        return count == 0 ? text : "\(text), \(TextTable.outcome(count))"
    }

    private static func list(_ versions: [String]) -> String {
        versions.isEmpty ? "–" : versions.joined(separator: " ")
    }
}

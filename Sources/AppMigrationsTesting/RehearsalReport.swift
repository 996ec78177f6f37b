import AppMigrations

/// The report of a rehearsal: one row for each run.
///
/// Its `description` is a table of the runs, followed by the findings.
public struct RehearsalReport: Sendable {
    /// The manager's name, or `SQL migrations`.
    public let name: String

    /// The app's version; for SQL migrations, the version of the newest migration.
    public let currentVersion: String

    /// True if the upgrades were compared with a fresh install.
    let hasFreshInstall: Bool

    /// The versions of the declared migrations, in the order of the declarations, or of the SQL migrations.
    public internal(set) var declaredVersions: [String] = []

    /// The runs, grouped by starting point.
    ///
    /// The list is empty if the declarations themselves are wrong.
    public internal(set) var runs: [RehearsedRun] = []

    /// Findings about the versions, independent of the data, and the finding that nothing was rehearsed.
    public internal(set) var versionFindings: [RehearsalFinding] = []

    /// All findings: first those about the versions, then those of each run.
    public var findings: [RehearsalFinding] { versionFindings + runs.flatMap(\.findings) }

    /// True if there is no finding.
    public var isClean: Bool { findings.isEmpty }

    /// The declared versions that ran on no data, because every starting point is at or above them.
    public var unrehearsedVersions: [String] {
        guard !runs.isEmpty else { return declaredVersions }
        let ran = Set(runs.filter(\.isCompared).flatMap(\.ran))
        return declaredVersions.filter { !ran.contains($0) }
    }

    /// Throws the first finding, if there is one.
    ///
    /// - Throws: The first of ``findings``.
    public func requireClean() throws(RehearsalFinding) {
        if let first = findings.first { throw first }
    }
}

extension RehearsalReport: CustomStringConvertible {
    /// The table of runs, the first three findings of each run, and the checks and versions that were not
    /// rehearsed.
    public var description: String {
        var lines = [
            "Rehearsal of \(name) \(currentVersion): \(Self.count(runs.count, "run")), "
                + Self.count(findings.count, "finding")
        ]
        lines += table
        lines += runs.flatMap(Self.inventions)
        lines += versionFindings.map { "- \($0)" }
        lines += runs.flatMap(Self.shortened)
        if !hasFreshInstall, runs.contains(where: { !$0.ran.isEmpty }) {
            lines.append(
                "Not checked, because there is no freshInstall starting point: whether all upgrades lose the same data"
            )
        }
        if !unrehearsedVersions.isEmpty {
            lines.append(
                "Not rehearsed, because no starting point is older: \(Self.list(unrehearsedVersions))"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// Says in which tables of a release the rehearsal has invented a row.
    private static func inventions(_ run: RehearsedRun) -> [String] {
        var lines = [String]()
        if !run.tablesWithInventedRow.isEmpty {
            lines.append(
                "\(run.start): a row was invented in \(run.tablesWithInventedRow.joined(separator: ", "))"
            )
        }
        if !run.tablesWithoutRow.isEmpty {
            let tables = run.tablesWithoutRow.joined(separator: ", ")
            lines.append("\(run.start): no row could be invented in \(tables). Add one to the record")
        }
        return lines
    }

    /// The first findings of a run, because many files may differ.
    private static func shortened(_ run: RehearsedRun) -> [String] {
        let rest = run.findings.count - 3
        return run.findings.prefix(3).map { "- \($0)" }
            + (rest > 0 ? ["  … and \(rest) more in this run"] : [])
    }

    private var table: [String] {
        guard !runs.isEmpty else { return [] }
        let rows = [["start", "run", "app", "ran", "time", "outcome"]] + runs.map(Self.cells)
        // Runs of SQL migrations have neither titles of their own nor app versions.
        let isOfSQL = runs.allSatisfy(\.appVersions.isEmpty)
        return Self.lines(isOfSQL ? rows.map { [$0[0]] + $0[3...] } : rows)
    }

    private static func cells(_ run: RehearsedRun) -> [String] {
        [
            run.start, run.title, list(run.appVersions.map(\.description)), list(run.ran),
            milliseconds(run.duration), outcome(run),
        ]
    }

    /// An answer is shown even without a finding, because an answer that is too low is a finding only if it
    /// does harm.
    private static func outcome(_ run: RehearsedRun) -> String {
        let success = run.isCompared ? "same" : "no error"
        let found = run.findings.isEmpty ? success : count(run.findings.count, "finding")
        guard let answer = run.answer else { return found }
        let text = FirstRunAnswer.text(of: answer)
        return run.findings.isEmpty ? text : "\(text), \(found)"
    }

    private static func list(_ versions: [String]) -> String {
        versions.isEmpty ? "–" : versions.joined(separator: " ")
    }

    /// The cells as lines.
    ///
    /// Each column is as wide as its widest cell.
    private static func lines(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let line = cells.joined(separator: "  ")
            return String(line[...(line.lastIndex { $0 != " " } ?? line.startIndex)])
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let components = duration.components
        return "\(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000) ms"
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
